"""Finds discouraged words in identifiers and in the sentences of the window and the terminal."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

LIST = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
PHRASES = re.compile(
    r"\b(" + "|".join(map(re.escape, sorted(LIST["sentences"], key=len, reverse=True))) + r")\b",
    re.IGNORECASE,
)


def discouraged_names(source: str, path: str) -> Iterator[str]:
    """Find identifiers that hold a discouraged word, the module's name among them."""
    for line, name in sorted(set(_identifiers(ast.parse(source), Path(path).stem))):
        if name.startswith("__"):
            continue
        words = {word.lower() for word in WORD.findall(name)}
        for found in sorted(words & LIST["names"].keys() | {name} & LIST["whole"].keys()):
            instead = LIST["names"].get(found) or LIST["whole"][found]
            yield f"{path}:{line} {name}: write {instead}"


def discouraged_sentences(source: str, path: str) -> Iterator[str]:
    """Find discouraged phrases in texts: every string with a space that is no docstring."""
    if not path.startswith(("ui/", "cli/", "domain/", "application/", "adapters/", "__main__")):
        return
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in docstrings:
            continue
        for match in PHRASES.finditer(" ".join(node.value.split())):
            instead = LIST["sentences"][match[0].lower()]
            yield f"{path}:{node.lineno} {match[0]!r}: write {instead}"


def _identifiers(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    yield 1, module
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str() as name):
                yield node.lineno, name
