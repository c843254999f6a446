"""Imports go downwards only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "npp_env"

# A module may import from its own room and from those below it. The deepest name of a module that is listed counts.
ROOMS = [
    {"npp_env.errors"},
    {"npp_env.level"},
    {"npp_env.sim"},
    {"npp_env.recording"},
    {"npp_env.graph"},
    {"npp_env.render"},
    {"npp_env.observe"},
    {"npp_env.config"},
    {"npp_env.runtime"},
    {"npp_env.rollouts"},
    {"npp_env.env"},
    {"npp_env.vector"},
    {"npp_env"},
    {"npp_env.profiling", "npp_env.planning"},
    {"npp_env.evaluation"},
    {"npp_env.induction"},
    {"npp_env.learning"},
    {"npp_env.integrations"},
    {"npp_env.cli", "npp_env.__main__"},
]
RANK = {name: rank for rank, names in enumerate(ROOMS) for name in names}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rank_of(module: str) -> int:
    """Room of a module; a module in no room is an error."""
    room = ".".join(module.split(".")[:2])
    assert room in RANK, f"{module} stands in no room"
    return RANK[room]


CIMPORT = re.compile(r"^\s*from\s+([\w.]+)\s+cimport|^\s*cimport\s+([\w.]+)|^\s*from\s+([\w.]+)\s+import", re.MULTILINE)


def imported_modules(path: Path) -> set[str]:
    """Everything of npp_env that a file imports, wherever in the file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".pyx", ".pxd"):
        found = {next(filter(None, match)) for match in CIMPORT.findall(text)}
    else:
        found = set().union(*(_names(path, node) for node in ast.walk(ast.parse(text))))
    return {name for name in found if name == "npp_env" or name.startswith("npp_env.")}


def _names(path: Path, node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if not isinstance(node, ast.ImportFrom):
        return set()
    assert node.level == 0, f"{path}: relative import in line {node.lineno}"
    if node.module != "npp_env":
        return {node.module or ""}
    # `from npp_env import x` means the module npp_env.x if there is one.
    modules = (f"npp_env.{alias.name}" for alias in node.names)
    return {name if _is_module(name) else "npp_env" for name in modules}


def _is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def upward_imports(path: Path) -> list[str]:
    module = module_name(path)
    own = rank_of(module)
    return [f"{module} imports {name}" for name in sorted(imported_modules(path)) if rank_of(name) > own]


def test_imports_go_downwards():
    sources = sorted(path for path in PACKAGE.rglob("*.p*") if path.suffix in (".py", ".pyx", ".pxd", ".pyi"))
    assert {path.suffix for path in sources} == {".py", ".pyx", ".pxd", ".pyi"}
    assert [line for path in sources for line in upward_imports(path)] == []


def test_every_room_is_listed():
    folders = {f"npp_env.{path.name}" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    modules = {module_name(path) for path in PACKAGE.glob("*.py")}
    assert folders | modules == set(RANK)


def test_the_page_of_the_design_shows_the_rooms_in_this_order():
    text = (PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \|", text, re.MULTILINE)
    shown = [[name.removesuffix("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", row)] for row in rows]
    ranks = [RANK[f"npp_env.{name}"] for row in shown for name in row if name != "vector"]
    assert ranks == sorted(ranks, reverse=True)
    rooms = {name.removeprefix("npp_env.") for name in RANK} - {"npp_env", "__main__"}
    assert {name for row in shown for name in row} == rooms


def test_the_test_sees_what_it_should(tmp_path):
    assert rank_of("npp_env.sim.kernel") < rank_of("npp_env.graph") < rank_of("npp_env.render.frames")
    assert rank_of("npp_env.observe.spec") < rank_of("npp_env.env") < rank_of("npp_env.cli.demo")
    with pytest.raises(AssertionError, match="stands in no room"):
        rank_of("npp_env.loose")
    source = tmp_path / "x.py"
    source.write_text("def f():\n    from npp_env.cli import main\nfrom npp_env import errors, __version__\n")
    assert imported_modules(source) == {"npp_env.cli", "npp_env.errors", "npp_env"}
    source.write_text("from . import sim\n")
    with pytest.raises(AssertionError, match="relative import"):
        imported_modules(source)
    source = tmp_path / "x.pyx"
    source.write_text(
        "from libc.math cimport sqrt\nfrom npp_env.sim.grid cimport relist\nfrom npp_env.errors import NppError\n"
    )
    assert imported_modules(source) == {"npp_env.sim.grid", "npp_env.errors"}


def test_nothing_prints_but_tools():
    allowed = (PACKAGE / "cli",)
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        if any(folder in path.parents for folder in allowed):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                wrong.append(f"{path.name}:{node.lineno}")
    assert wrong == []
