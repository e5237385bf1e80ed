"""Reads the imports of a source tree and compares them with the declared order.

Kept apart from the tests so that they can also feed it a tree that breaks the rules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Part of spam_core -> the parts it may import, at module level or inside a function.
# The explanations stand before the estimators, whose methods return them.
_CORE = ("data", "models", "training", "explain", "estimators")
ALLOWED: dict[str, frozenset[str]] = {
    "data": frozenset(),
    "models": frozenset(_CORE[:1]),
    "training": frozenset(_CORE[:2]),
    "explain": frozenset(_CORE[:3]),
    "estimators": frozenset(_CORE[:4]),
    # It judges any fitted model by what that says, so it needs the tables alone.
    "evaluation": frozenset({"data"}),
    "persistence": frozenset(_CORE),
    "study": frozenset({*_CORE, "persistence"}),
    "search": frozenset({*_CORE, "persistence"}),
    "benchmark": frozenset({*_CORE, "persistence", "study", "search"}),
    "export": frozenset({*_CORE, "persistence"}),
    # Figures are drawn from the values they are given, whose types are duck typed.
    "plots": frozenset(),
    "cli": frozenset(
        {*_CORE, "persistence", "study", "search", "benchmark", "export", "plots"},
    ),
    "__main__": frozenset({"cli"}),
    # The public names, each loaded on first use.
    "__init__": frozenset({*_CORE, "persistence", "plots"}),
}

# (file, imported part) -> why this one import may go against the order.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("estimators/gradient.py", "persistence"): (
        "model.save(path) is where users look for it; loaded in the method"
    ),
    ("explain/explanation.py", "plots"): (
        "interpret.show calls visualize() of the value object; loaded in the method"
    ),
}


@dataclass(frozen=True)
class Import:
    """One import: the file it stands in, its line and the full name it asks for."""

    file: str  # relative to the tree, with slashes
    line: int
    name: str  # spam_core.data.encoding, torch, ...

    def __str__(self) -> str:
        """Return the place as editors understand it."""
        return f"{self.file}:{self.line} imports {self.name}"


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _walk_runtime(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that can run: all but the bodies of ``if TYPE_CHECKING``."""
    yield node
    children: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If) and _is_type_checking(node.test):
        children = list(node.orelse)
    for child in children:
        yield from _walk_runtime(child)


def _absolute(module: str | None, level: int, file: Path, package: str) -> str:
    """Return the absolute name of a ``from ... import`` in `file`."""
    if level == 0:
        return module or ""
    parents = [package, *file.parent.parts]
    base = parents[: len(parents) - level + 1]
    return ".".join([*base, module] if module else base)


def imports(tree: Path, package: str = "") -> list[Import]:
    """Return every import of every file under `tree` that can happen at run time.

    Parameters
    ----------
    tree : Path
        Folder of Python files.
    package : str
        Name of the package that the folder is, for relative imports.

    Returns
    -------
    list of Import
        ``from a import b`` counts as ``a.b``, which covers b being a module, and
        ``import_module("a.b")`` with a literal counts as well.
    """
    found: list[Import] = []
    for path in sorted(tree.rglob("*.py")):
        file = path.relative_to(tree)
        where = file.as_posix()
        for node in _walk_runtime(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = _absolute(node.module, node.level, file, package)
                names = [f"{base}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Call):
                called = node.func
                name = getattr(called, "attr", getattr(called, "id", ""))
                literal = node.args[0] if node.args else None
                if name not in {"import_module", "__import__"}:
                    continue
                if not (
                    isinstance(literal, ast.Constant) and isinstance(literal.value, str)
                ):
                    continue
                names = [literal.value]
            else:
                continue
            found += [Import(where, node.lineno, name) for name in names]
    return found


def part_of(file: str) -> str:
    """Return the part of the package that a file belongs to: data, models, ..."""
    head = file.split("/")[0]
    return head.removesuffix(".py")


def violations(
    tree: Path, public: dict[str, str], package: str = "spam_core"
) -> list[str]:
    """Return what breaks the import order under `tree`, one line each.

    Parameters
    ----------
    tree : Path
        The package's folder.
    public : dict of str to str
        Public name of the package -> module that defines it, since
        ``from spam_core import load_dataset`` loads ``spam_core.data``.
    package : str
        The package's name.
    """
    broken: list[str] = []
    for entry in imports(tree, package):
        head, _, rest = entry.name.partition(".")
        if head in {"streamlit", "app", "ui", "views"}:
            broken.append(f"{entry}: the library knows no dashboard")
        if head != package or not rest:
            continue
        target = rest.split(".")[0]
        target = public.get(target, f"{package}.{target}").split(".")[1]
        source = part_of(entry.file)
        if source not in ALLOWED:
            broken.append(f"{entry}: {source} has no place in the import order yet")
        elif (
            target != source
            and not target.startswith("__")
            and target not in ALLOWED[source]
            and (entry.file, target) not in EXCEPTIONS
        ):
            broken.append(f"{entry}: {source} stands before {target}")
    return broken


def attributes(tree: Path, names: frozenset[str]) -> set[tuple[str, str]]:
    """Return (file, name) wherever one of `names` is used as a name or attribute."""
    used: set[tuple[str, str]] = set()
    for path in sorted(tree.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "attr", getattr(node, "id", None))
            if isinstance(node, ast.alias):
                name = node.name
            if name in names:
                used.add((path.relative_to(tree).as_posix(), str(name)))
    return used
