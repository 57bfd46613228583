"""How the program starts, each time in a process of its own."""

import subprocess
import sys

WITHOUT = "import sys; sys.modules['{library}'] = None; "
WITHOUT_QT = WITHOUT.format(library="PySide6")
TYPED = "sys.argv = ['spatialstudio', *{words}]; from spatialstudio.__main__ import main; "


def start(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_terminal_works_without_qt():
    words = ["parse", "a dog above a car"]
    done = start(WITHOUT_QT + TYPED.format(words=words) + "sys.exit(main())")
    assert done.returncode == 0
    assert "dog above car" in done.stdout


def test_the_window_without_qt_says_what_is_missing():
    done = start(WITHOUT_QT + TYPED.format(words=[]) + "sys.exit(main())")
    assert done.returncode == 1
    assert done.stderr.startswith("The window needs PySide6")
    assert len(done.stderr.splitlines()) == 2


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
