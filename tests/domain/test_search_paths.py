"""The current folder is left out of what Python and the system search."""

import os
import sys

import pytest

from spatialstudio.domain.search_paths import (
    PACKAGE_PARENT,
    STANDARD_LIBRARY,
    leave_out_current_folder,
    set_variables,
    without_current_folder,
)

POSIX_ONLY = pytest.mark.skipif(os.name == "nt", reason="PATH of POSIX")


@pytest.fixture
def current(tmp_path, monkeypatch):
    """An untrusted folder as the current one; search paths are restored afterwards."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("PATH", "PYTHONPATH", "PYTHONSAFEPATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    return folder


@pytest.mark.parametrize("entry", ["", ".", "downloads", "{current}", "{link}"])
def test_the_current_folder_is_not_searched_for_modules(current, entry, tmp_path):
    (tmp_path / "link").symlink_to(current)
    sys.path.insert(0, entry.format(current=current, link=tmp_path / "link"))
    before = sys.path[1:]
    leave_out_current_folder()
    assert sys.path == before


def test_the_package_is_found_in_a_checkout_that_is_the_current_folder(current, monkeypatch):
    monkeypatch.chdir(PACKAGE_PARENT)
    sys.path[:] = [PACKAGE_PARENT, STANDARD_LIBRARY]
    leave_out_current_folder()
    assert sys.path == [STANDARD_LIBRARY, PACKAGE_PARENT]


def test_installed_libraries_are_found_when_they_are_the_current_folder(current):
    sys.path[:] = [str(current), STANDARD_LIBRARY, str(current)]
    leave_out_current_folder()
    assert sys.path[:2] == [STANDARD_LIBRARY, str(current)]


def test_other_folders_stay_in_order(current, tmp_path):
    sys.path[:] = [str(tmp_path / "b"), "", str(tmp_path / "a"), STANDARD_LIBRARY, PACKAGE_PARENT]
    leave_out_current_folder()
    assert sys.path == [
        *(str(tmp_path / "b"), str(tmp_path / "a"), STANDARD_LIBRARY, PACKAGE_PARENT)
    ]


@POSIX_ONLY
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(":/usr/bin", "/usr/bin", id="empty first"),
        pytest.param("/usr/bin:", "/usr/bin", id="empty last"),
        pytest.param("/usr/bin::/bin", "/usr/bin:/bin", id="empty between"),
        pytest.param(".:bin:/usr/bin", "/usr/bin", id="relative"),
        pytest.param("", os.defpath, id="nothing"),
        pytest.param(".", os.defpath, id="nothing else"),
    ],
)
def test_programs_are_searched_only_in_absolute_folders(before, after):
    assert without_current_folder({"PATH": before})["PATH"] == after


@POSIX_ONLY
def test_children_search_the_current_folder_for_no_shared_library():
    assert (
        without_current_folder({"LD_LIBRARY_PATH": ":/opt/lib:lib"})["LD_LIBRARY_PATH"]
        == "/opt/lib"
    )
    assert "LD_LIBRARY_PATH" not in without_current_folder({"LD_LIBRARY_PATH": ":"})


@POSIX_ONLY
def test_children_search_the_current_folder_for_no_module(current):
    environment = {"PYTHONPATH": f":{current}:.:/usr/share/python"}
    safe = without_current_folder(environment)
    assert safe["PYTHONPATH"] == "/usr/share/python"
    assert safe["PYTHONSAFEPATH"] == "1"


def test_an_empty_module_path_is_not_passed_on(current):
    assert "PYTHONPATH" not in without_current_folder({"PYTHONPATH": "."})


def test_the_process_itself_gets_the_same_environment(current, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(current)]))
    leave_out_current_folder()
    assert "PYTHONPATH" not in os.environ
    assert os.environ["PATH"] == str(current)
    assert os.environ["PYTHONSAFEPATH"] == "1"


def test_variables_can_be_restored(monkeypatch):
    monkeypatch.setenv("STUDIO_A", "1")
    monkeypatch.setenv("STUDIO_B", "")
    monkeypatch.delenv("STUDIO_B")
    before = set_variables({"STUDIO_A": None, "STUDIO_B": "2"})
    assert ("STUDIO_A" in os.environ, os.environ["STUDIO_B"]) == (False, "2")
    set_variables(before)
    assert (os.environ["STUDIO_A"], "STUDIO_B" in os.environ) == ("1", False)
