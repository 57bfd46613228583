"""The start of the program, each time in a separate process."""

import os
import subprocess
import sys

WITHOUT = "import sys; sys.modules['{library}'] = None; "
WITHOUT_QT = WITHOUT.format(library="PySide6")
TYPED = "sys.argv = ['spatialstudio', *{words}]; from spatialstudio.__main__ import main; "


WINDOW = f"import sys; {TYPED.format(words=[])} sys.exit(main())"
WITHOUT_XCB = """
import ctypes
load = ctypes.CDLL
missing = ("libxcb-icccm.so.4", "libxcb-keysyms.so.1")
def refuse(name, *options):
    if name in missing:
        raise OSError(name + ": cannot open shared object file: No such file or directory")
    return load(name, *options) if not str(name).startswith("lib") else None
ctypes.CDLL = refuse
"""


def start(code, **variables):
    """Run Python code in its own process, with some variables set, or unset by None."""
    unset = {"DISPLAY": None, "WAYLAND_DISPLAY": None}
    environment = {**os.environ, **unset, **variables}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_terminal_works_without_qt():
    words = ["parse", "a dog above a car"]
    done = start(WITHOUT_QT + TYPED.format(words=words) + "sys.exit(main())")
    assert done.returncode == 0
    assert "dog above car" in done.stdout


def test_the_window_without_qt_names_the_missing_package():
    done = start(WITHOUT_QT + TYPED.format(words=[]) + "sys.exit(main())")
    assert done.returncode == 1
    assert done.stderr.startswith("The window needs PySide6")
    assert len(done.stderr.splitlines()) == 2


def test_the_window_names_the_system_libraries_that_are_missing():
    done = start(WITHOUT_XCB + WINDOW, DISPLAY=":0", QT_QPA_PLATFORM="xcb")
    assert done.returncode == 1
    message, *advice = done.stderr.splitlines()
    assert message.endswith("missing: libxcb-icccm.so.4, libxcb-keysyms.so.1.")
    assert "libxcb-icccm" in "".join(advice)


def test_the_window_without_a_display_reports_it():
    done = start(WINDOW, QT_QPA_PLATFORM=None)
    assert done.returncode == 1
    assert done.stderr.startswith(("There is no display:", "Qt needs system libraries"))


def test_a_missing_library_is_named():
    words = TYPED.format(words=["doctor"])
    done = start(WITHOUT.format(library="numpy") + words + "sys.exit(main())")
    assert done.returncode == 1
    assert done.stderr.startswith("Spatial Studio cannot start: ")
    assert "numpy" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_reading_a_prompt_loads_no_heavy_library():
    words = ["parse", "three plouses above two gruvves"]
    heavy = "{'torch', 'diffusers', 'transformers', 'openai'} & sys.modules.keys()"
    done = start(f"import sys; {TYPED.format(words=words)} main(); print({heavy})")
    assert "three plouses above two gruvves" in done.stdout
    assert done.stdout.endswith("set()\n")


def test_the_window_starts_without_a_console():
    done = start(
        "import sys; import spatialstudio.ui.window.app as app; app.main = lambda: print(1) or 0;"
        "from spatialstudio.__main__ import main; sys.argv = ['spatialstudio-gui'];"
        "sys.stdout = sys.stderr = None; main(); print(2, file=sys.__stdout__)"
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
