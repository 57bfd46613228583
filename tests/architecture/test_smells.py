"""The package is free of code smells, and each smell is found where it exists."""

from pathlib import Path

import pytest

from tests.architecture import smells

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "spatialstudio"
PACKAGE_SMELLS = (
    smells.long_modules,
    smells.long_functions,
    smells.colours,
    smells.repeated_formulas,
    smells.hidden_defaults,
    smells.relation_strings,
    smells.slow_dataclasses,
    smells.vague_names,
    smells.resource_paths,
    smells.raw_fields,
    smells.undocumented_methods,
)


def findings(smell, folder):
    """Let a smell go over every module of a folder; paths are relative to it."""
    modules = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}
    return [
        finding
        for name, path in sorted(modules.items())
        for finding in smell(path.read_text(encoding="utf-8"), name)
    ]


@pytest.fixture(scope="module")
def found():
    """What each smell finds in the package; module by module, so that each is parsed once."""
    found = {smell: [] for smell in PACKAGE_SMELLS}
    for path in sorted(PACKAGE.rglob("*.py")):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix()
        for smell in PACKAGE_SMELLS:
            found[smell] += smell(source, name)
    return found


@pytest.mark.parametrize("smell", PACKAGE_SMELLS, ids=lambda smell: smell.__name__)
def test_the_package_is_free_of(smell, found):
    assert found[smell] == []


def test_no_test_module_or_script_is_too_long():
    assert findings(smells.long_modules, ROOT / "tests") == []
    assert findings(smells.long_modules, ROOT / "packaging") == []


def test_no_default_test_depends_on_time():
    assert findings(smells.timed_tests, ROOT / "tests") == []


def test_plugins_import_only_the_two_public_modules():
    assert findings(smells.private_imports, ROOT / "plugins") == []


TIMED = "def seconds(): return perf_counter()\n"
SLOW = "@pytest.mark.slow\n"
TIMED_TEST = "def test_a(): assert seconds() < 1\n"


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param(TIMED + TIMED_TEST, "science/test_a.py", id="through a function"),
        pytest.param("def test_a():\n    a = time.monotonic()", "test_a.py", id="directly"),
        pytest.param(TIMED + TIMED_TEST, "performance/test_a.py", id="among the measurements"),
        pytest.param(TIMED, "science/seen_things.py", id="shared"),
    ],
)
def test_a_timed_test_is_found(source, path):
    assert list(smells.timed_tests(source, path))


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param(TIMED + SLOW + TIMED_TEST, "science/test_a.py", id="slow"),
        pytest.param(TIMED, "performance/measure_a.py", id="measurement"),
        pytest.param("def test_a(): assert run.seconds == 2", "test_a.py", id="recorded time"),
    ],
)
def test_time_may_be_measured_where_no_test_depends_on_it(source, path):
    assert list(smells.timed_tests(source, path)) == []


@pytest.mark.parametrize(
    ("smell", "source"),
    [
        pytest.param(smells.long_modules, "x = 1\n" * 601, id="module"),
        pytest.param(smells.long_functions, "def f():\n" + "    x = 1\n" * 50, id="function"),
        pytest.param(smells.colours, 'pen = "#1f77b4"', id="hex colour"),
        pytest.param(smells.colours, 'sheet = "color: #fff;"', id="hex colour in a sheet"),
        pytest.param(smells.colours, "pen = Qt.GlobalColor.red", id="Qt colour"),
        pytest.param(smells.repeated_formulas, "total = x.cumsum(-1)", id="cumsum"),
        pytest.param(smells.repeated_formulas, "total = np.cumsum(x)", id="numpy cumsum"),
        pytest.param(smells.repeated_formulas, "def box_iou(a, b): ...", id="IoU"),
        pytest.param(smells.hidden_defaults, 'steps = settings.get("steps", 25)', id="default"),
        pytest.param(smells.hidden_defaults, 'low = settings.get("low", -1.0)', id="negative"),
        pytest.param(smells.relation_strings, 'if kind == "left_of": ...', id="relation"),
        pytest.param(smells.relation_strings, 'if kind == "above": ...', id="plain word"),
        pytest.param(smells.relation_strings, 'if kind in {"above"}: ...', id="word in a set"),
        pytest.param(smells.relation_strings, 'types["above"]', id="word as an index"),
        pytest.param(
            smells.slow_dataclasses,
            "@dataclass(frozen=True, slots=True)\nclass Box: ...",
            id="dataclass",
        ),
        pytest.param(smells.vague_names, "", id="name"),
        pytest.param(smells.resource_paths, 'folder / "resources" / "models"', id="resources"),
        pytest.param(smells.raw_fields, "box = QSpinBox()", id="field"),
        pytest.param(smells.raw_fields, "class Box(QComboBox): ...", id="kind of field"),
        pytest.param(
            smells.undocumented_methods, "class Box:\n    def fill(self): ...", id="method"
        ),
        pytest.param(smells.private_imports, "import spatialstudio.domain", id="import"),
        pytest.param(smells.private_imports, "from spatialstudio.ui import app", id="from"),
    ],
)
def test_a_smell_is_found(smell, source):
    assert list(smell(source, "science/_utils.py"))


@pytest.mark.parametrize(
    ("smell", "source", "path"),
    [
        pytest.param(smells.long_modules, "x = 1\n" * 600, "a.py", id="module"),
        pytest.param(
            smells.long_functions, "def f():\n" + "    x = 1\n" * 49, "a.py", id="function"
        ),
        pytest.param(smells.colours, "fill(Qt.GlobalColor.transparent)", "a.py", id="nothing"),
        pytest.param(smells.slow_dataclasses, "@frozen\nclass Box: ...", "a.py", id="frozen"),
        pytest.param(smells.colours, '"""Like #1f77b4."""', "a.py", id="docstring"),
        pytest.param(smells.colours, 'hint = "See issue #12."', "a.py", id="issue number"),
        pytest.param(
            smells.repeated_formulas, "x.cumsum(-1)", "science/pos/superiority.py", id="home"
        ),
        pytest.param(smells.repeated_formulas, "overlap = iou(a, b)", "a.py", id="call"),
        pytest.param(smells.hidden_defaults, 'x.get("name", "")', "a.py", id="no number"),
        pytest.param(smells.relation_strings, 'id = "left_of"', "domain/scene.py", id="relation"),
        pytest.param(smells.relation_strings, 'word = "above"', "a.py", id="plain word"),
        pytest.param(
            smells.undocumented_methods,
            "class Box:\n    def sizeHint(self): ...",
            "a.py",
            id="Qt method",
        ),
        pytest.param(smells.vague_names, "", "application/__init__.py", id="package"),
        pytest.param(
            smells.private_imports, "import spatialstudio.plugin_api", "a.py", id="the door"
        ),
    ],
)
def test_allowed_code_has_no_smell(smell, source, path):
    assert list(smell(source, path)) == []
