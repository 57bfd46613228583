"""Pictures of the library as a population."""

from spatialstudio.application.audit.desk import AuditDesk


class UnscannedLibrary:
    """A library that knows its runs after the first scan."""

    entries_known = ()

    def refresh(self):
        self.entries_known = ("entry",)

    def list(self, line):
        assert line == "cat"
        return self.entries_known

    def entries(self, ids):
        assert ids == ("entry",)
        return ()


def test_the_library_is_scanned_before_it_is_sampled():
    desk = AuditDesk(None, None, UnscannedLibrary, (print, None))
    assert desk.library_population("cat") == ()
    desk.close()
