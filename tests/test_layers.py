"""Imports go downwards only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "npp_env"

# A module may import from its own layer and from those below it. Longer names win.
LAYERS = [
    {"npp_env", "npp_env.errors", "npp_env.sets"},
    {"npp_env.level", "npp_env.recording"},
    {"npp_env.sim"},
    {"npp_env.graph", "npp_env.replay"},
    {"npp_env.observe", "npp_env.render"},
    {"npp_env.config", "npp_env.reward", "npp_env.env", "npp_env.vector"},
    {"npp_env.profiling", "npp_env.integrations", "npp_env.planning", "npp_env.cli", "npp_env.__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FACE = RANK["npp_env.env"]


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rank_of(module: str) -> int | None:
    """Layer of a module; other modules of the Gymnasium face stand directly in the package."""
    parts = module.split(".")
    for length in range(min(len(parts), 2), 0, -1):
        name = ".".join(parts[:length])
        if name in RANK and (length == len(parts) or length == 2):
            return RANK[name]
    return FACE if len(parts) == 2 else None


def imported_modules(path: Path) -> set[str]:
    """Everything of npp_env that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import in line {node.lineno}"
            name = (node.module or "").removeprefix("cython.cimports.")
            if name == "npp_env":
                # `from npp_env import x` means the module npp_env.x if there is one.
                found |= {
                    f"npp_env.{alias.name}" if _is_module(f"npp_env.{alias.name}") else "npp_env"
                    for alias in node.names
                }
            else:
                found.add(name)
    return {name for name in found if name == "npp_env" or name.startswith("npp_env.")}


def _is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def upward_imports(path: Path) -> list[str]:
    module = module_name(path)
    own = rank_of(module)
    assert own is not None, module
    # What the package itself offers comes from everywhere below the tools.
    if module == "npp_env":
        own = FACE
    return [f"{module} imports {name}" for name in sorted(imported_modules(path)) if rank_of(name) > own]


def test_imports_go_downwards():
    wrong = [line for path in sorted(PACKAGE.rglob("*.py")) for line in upward_imports(path)]
    assert wrong == []


def test_the_test_sees_what_it_should(tmp_path):
    assert rank_of("npp_env.sim.kernel") < rank_of("npp_env.graph") < rank_of("npp_env.render.frames")
    assert rank_of("npp_env.observe.spec") < rank_of("npp_env.env") < rank_of("npp_env.cli.demo")
    source = tmp_path / "x.py"
    source.write_text(
        "def f():\n    from npp_env.cli import main\n"
        "if 1:\n    from cython.cimports.npp_env.sim.grid import relist\n"
        "from npp_env import errors, __version__\n"
    )
    assert imported_modules(source) == {"npp_env.cli", "npp_env.sim.grid", "npp_env.errors", "npp_env"}
    source.write_text("from . import sim\n")
    with pytest.raises(AssertionError, match="relative import"):
        imported_modules(source)


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
