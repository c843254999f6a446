"""Every Python block of the README and the docs runs, those of one document after each other.

A block that cannot run here says why in a comment on the line above its fence: `<!-- not run: it never ends -->`.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^(?P<above>[^\n]*)\n+```(?:python|py)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: .+ -->")


@dataclass(frozen=True)
class Block:
    name: str  # file:line
    code: str
    is_run: bool


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        is_run = not NOT_RUN.fullmatch(match["above"].strip())
        found.append(Block(f"{path.name}:{line}", match["code"], is_run))
    return found


def missing_modules(code: str) -> list[str]:
    """Top-level modules that a piece of code imports and that are not installed."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    # Our adapters need the library that they adapt to.
    needs = {
        "npp_env.integrations.sb3": "stable_baselines3",
        "npp_env.integrations.torch": "torch",
        "npp_env.profiling.sb3": "stable_baselines3",
    }
    names |= {needs[prefix] for name in names for prefix in needs if name.startswith(prefix)}
    return sorted(top for top in {name.split(".")[0] for name in names} if importlib.util.find_spec(top) is None)


DOCUMENTS = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if blocks_of(path)]


def run_document(blocks: list[Block]) -> tuple[list[str], list[str]]:
    """Names of the blocks that ran, and of those that could not because a library is missing."""
    ran, left_out = [], []
    names = {"__name__": "__main__"}
    for block in blocks:
        if not block.is_run:
            continue
        if missing_modules(block.code):
            left_out.append(block.name)
            continue
        try:
            exec(compile(block.code, block.name, "exec"), names)
        except NameError:
            # What it continues may have been left out.
            if not left_out:
                raise
            left_out.append(block.name)
        else:
            ran.append(block.name)
    return ran, left_out


@pytest.mark.timeout(240)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_document_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ran, left_out = run_document(blocks_of(path))
    if not ran and left_out:
        pytest.skip("libraries are missing")


def test_blocks_are_found():
    assert "README.md" in {path.name for path in DOCUMENTS}
    assert sum(block.is_run for path in DOCUMENTS for block in blocks_of(path)) >= 5


def test_the_reader_of_blocks(tmp_path):
    path = tmp_path / "x.md"
    path.write_text(
        "Text.\n\n```python\nimport numpy\n```\n\n<!-- not run: endless -->\n```python\nx = 1\n```\n```sh\nls\n```\n"
    )
    first, second = blocks_of(path)
    assert (first.code, first.is_run, first.name) == ("import numpy\n", True, "x.md:4")
    assert (second.code, second.is_run) == ("x = 1\n", False)
    assert run_document([first, second]) == (["x.md:4"], [])
    broken = Block("y", "unheard_of", True)
    absent = Block("z", "import no_such_thing", True)
    with pytest.raises(NameError):
        run_document([broken, absent])
    assert run_document([absent, broken]) == ([], ["z", "y"])
    assert missing_modules("import numpy, no_such_thing.x\nfrom neither import y") == ["neither", "no_such_thing"]
