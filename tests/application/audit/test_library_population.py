"""Pictures of the library as a population."""

from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.application.audit.desk import AuditDesk
from spatialstudio.domain.errors import SettingsError
from tests.audit_population import item_of


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


class Pictures:
    """Notes the files that are opened."""

    def __init__(self):
        self.opened = []

    def read(self, path):
        self.opened.append(path)


class SharedLibrary:
    """A library on a network share of the user."""

    root = Path("//own/runs")


def item_at(path):
    item = item_of(1)
    return replace(item, fields={**item.fields, "image_path": path})


FOREIGN = ("//host/share/a.png", "file://host/a.png", "FILE:///a.png", "//own/other/a.png")


@pytest.mark.parametrize("path", FOREIGN)
def test_a_picture_of_a_session_on_a_foreign_share_is_not_opened(path):
    pictures = Pictures()
    desk = AuditDesk(None, None, SharedLibrary, (print, pictures))
    assert desk.picture(item_at(path)) is None
    assert pictures.opened == []
    desk.picture(item_at("//own/runs/a.png"))
    assert pictures.opened == [Path("//own/runs/a.png")]
    desk.close()


class Samples:
    """Reads one sample file, whose picture has a path."""

    def __init__(self, path):
        self.path = path

    def read_sample(self, _file):
        return (item_at(self.path),)


@pytest.mark.parametrize("path", [*FOREIGN, r"\\host\share\a.png", r"\/host/a.png"])
def test_a_sample_file_with_a_picture_on_a_share_is_refused(tmp_path, path):
    file = tmp_path / "sample.csv"
    file.touch()
    desk = AuditDesk(None, Samples(path), SharedLibrary, (print, None))
    with pytest.raises(SettingsError, match="network share"):
        desk.file_population([file])
    desk.close()
