"""Code smells: each function reads one module's source and names the smells in it."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from spatialstudio.domain.scene import BUILT_IN_TYPES

MOST_MODULE_LINES = 600
MOST_FUNCTION_LINES = 50

FORMULA_HOMES = {
    "cumsum": {
        "science/pos/superiority.py",
    },
    "iou": {"science/checker/measurement.py"},
    "kappa": {"science/statistics/agreement.py"},
    "geometric_mean": {"science/checker/confidence.py"},
}
"""A mark of a formula, and the only modules that may hold it."""

RESOURCES_HOME = "domain/resources.py"
RELATION_ID_HOMES = {"domain/scene.py", "adapters/storage/stores/json_codec.py"}
CLOCKS = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time"}
CLOCKS |= {"thread_time_ns", "monotonic", "monotonic_ns", "timeit", "time.time", "QElapsedTimer"}
RAW_FIELDS = {"QSpinBox", "QDoubleSpinBox", "QComboBox", "QSlider", "QDial"}
RAW_FIELD_HOMES = {"ui/widgets/fields.py", "ui/inspect/widgets/replay_bar.py"}
"""The scrubber is no setting: the wheel over the time strip steps through the run."""
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
HEX_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}(?:[0-9a-fA-F]{2})?\b")
PLUGIN_API = {"spatialstudio.plugin_api", "spatialstudio.ui.framework.panel_api"}


tree_of = lru_cache(maxsize=1)(ast.parse)


@lru_cache(maxsize=1)
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a module, parsed once for the smells that follow each other."""
    return tuple(ast.walk(tree_of(source)))


def long_modules(source: str, path: str) -> Iterator[str]:
    """Find a god module."""
    count = len(source.splitlines())
    if count > MOST_MODULE_LINES:
        yield f"{path} has {count} lines"


def long_functions(source: str, path: str) -> Iterator[str]:
    """Find god functions, docstring and signature counted."""
    for node in nodes_of(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > MOST_FUNCTION_LINES:
                yield f"{path}:{node.lineno} {node.name} has {count} lines"


def colours(source: str, path: str) -> Iterator[str]:
    """Find colours that stand in code instead of a theme."""
    for node in nodes_of(source):
        match node:
            case ast.Attribute(value=ast.Attribute(attr="GlobalColor"), attr=name):
                if name != "transparent":
                    yield f"{path}:{node.lineno} names the Qt colour {name}"
    for text, line in strings(source):
        if HEX_COLOUR.search(text):
            yield f"{path}:{line} holds a colour: {text!r}"


def repeated_formulas(source: str, path: str) -> Iterator[str]:
    """Find the mark of a formula outside its home; a call of the home's function is no mark."""
    for node in nodes_of(source):
        if isinstance(node, ast.FunctionDef):
            words = {node.name, *node.name.split("_")}
        elif isinstance(node, ast.Attribute) and node.attr == "cumsum":
            words = {node.attr}
        else:
            continue
        for mark, homes in FORMULA_HOMES.items():
            if mark in words and path not in homes:
                yield f"{path}:{node.lineno} holds {mark}"


def hidden_defaults(source: str, path: str) -> Iterator[str]:
    """Find ``x.get("name", number)``: a setting with a default that nobody sees."""
    for node in nodes_of(source):
        match node:
            case ast.Call(func=ast.Attribute(attr="get"), args=[_, default]) if is_number(default):
                yield f"{path}:{node.lineno} hides a default"


def relation_strings(source: str, path: str) -> Iterator[str]:
    """Find relation types that are named by string instead of by their constant.

    Some ids are plain words ("above"). Those may stand in texts, but nothing is compared with them.
    """
    if path in RELATION_ID_HOMES:
        return
    ids = {relation_type.id for relation_type in BUILT_IN_TYPES}
    plain_words = {type_id for type_id in ids if "_" not in type_id}
    for node in nodes_of(source):
        match node:
            case ast.Constant(value=str(text)) if text in ids - plain_words:
                yield f"{path}:{node.lineno} names the relation {text!r} by string"
            case ast.Compare() | ast.MatchValue() | ast.Subscript():
                compared = {part.value for part in constants(node)}
                for text in sorted(compared & plain_words):
                    yield f"{path}:{node.lineno} compares with the relation {text!r}"


def slow_dataclasses(source: str, path: str) -> Iterator[str]:
    """Find frozen classes that are not made by ``domain/frozen.py``: the window waits for them."""
    for node in nodes_of(source):
        match node:
            case ast.Call(func=ast.Name("dataclass"), keywords=chosen):
                if {"frozen", "slots"} <= {keyword.arg for keyword in chosen}:
                    yield f"{path}:{node.lineno} makes a frozen class by dataclass"


def raw_fields(source: str, path: str) -> Iterator[str]:
    """Find fields of Qt that the wheel changes while a page scrolls; ``fields.py`` has others."""
    if path in RAW_FIELD_HOMES:
        return
    for node in nodes_of(source):
        match node:
            case ast.Call(func=ast.Name(name)) if name in RAW_FIELDS:
                yield f"{path}:{node.lineno} makes a {name}"
            case ast.ClassDef(bases=bases):
                for base in bases:
                    if isinstance(base, ast.Name) and base.id in RAW_FIELDS:
                        yield f"{path}:{node.lineno} {node.name} is a {base.id}"


def vague_names(source: str, path: str) -> Iterator[str]:
    """Find module and folder names that say nothing, or that hide."""
    for part in path.removesuffix(".py").split("/"):
        is_hidden = part.startswith("_") and not part.startswith("__")
        if is_hidden or VAGUE_NAMES & set(part.split("_")):
            yield f"{path} is no name"


def private_imports(source: str, path: str) -> Iterator[str]:
    """Find what a plugin imports from the studio beyond its two doors."""
    for node in nodes_of(source):
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "spatialstudio" and name not in PLUGIN_API:
                yield f"{path}:{node.lineno} imports {name}"


def resource_paths(source: str, path: str) -> Iterator[str]:
    """Find code that looks for the shipped data by itself, and so misses it in a wheel."""
    if path == RESOURCES_HOME:
        return
    for text, line in strings(source):
        if text.split("/")[0] == "resources":
            yield f"{path}:{line} names the folder of resources"


def undocumented_methods(source: str, path: str) -> Iterator[str]:
    """Find public methods without a docstring; overrides of Qt methods have mixed-case names."""
    for node in nodes_of(source):
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        for method in node.body:
            match method:
                case ast.FunctionDef(decorator_list=[ast.Attribute(attr="setter")]):
                    continue
                case ast.FunctionDef(name=name) if name.islower() and not name.startswith("_"):
                    if not ast.get_docstring(method):
                        yield f"{path}:{method.lineno} {name} has no docstring"


def timed_tests(source: str, path: str) -> Iterator[str]:
    """Find tests of the default run that read a clock, and clocks that tests may share.

    A busy machine must not fail a test: one that times something is marked slow. Scripts in
    ``performance/`` measure what they like.
    """
    functions = [node for node in nodes_of(source) if isinstance(node, ast.FunctionDef)]
    timing: set[str] = set()
    while len(timing) < len(timing := {f.name for f in functions if reads_clock(f, timing)}):
        pass
    is_test_module = path.split("/")[-1].startswith("test_")
    for function in functions:
        if function.name not in timing:
            continue
        is_default_test = function.name.startswith("test_") and "slow" not in marks(function)
        if is_default_test or not (is_test_module or path.startswith("performance/")):
            yield f"{path}:{function.lineno} {function.name} reads a clock"


def reads_clock(function: ast.FunctionDef, timing: set[str]) -> bool:
    """Say whether a function names a clock, or another function that is known to read one."""
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    names |= {argument.arg for argument in function.args.args}
    attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    names |= {ast.unparse(node) for node in attributes} | {node.attr for node in attributes}
    return bool(names & (CLOCKS | timing))


def marks(function: ast.FunctionDef) -> set[str]:
    """List the names in a function's decorators."""
    nodes = [node for decorator in function.decorator_list for node in ast.walk(decorator)]
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def strings(source: str) -> Iterator[tuple[str, int]]:
    """Yield every string constant that is not a docstring, with its line."""
    told = {
        id(node.value)
        for node in nodes_of(source)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes_of(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value, node.lineno


def constants(node: ast.AST) -> list[ast.Constant]:
    """List the constants in a comparison, a pattern or an index, not those deeper in calls."""
    parts = [node, *ast.iter_child_nodes(node)]
    parts += [item for part in parts[1:] for item in ast.iter_child_nodes(part)]
    return [part for part in parts if isinstance(part, ast.Constant)]


def is_number(node: ast.expr) -> bool:
    """Say whether an expression is a bare number, with or without a sign."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}
