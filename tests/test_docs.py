"""Every block of Python and of shell commands of the README and the docs runs, those of a document in their order.

A block that cannot run here says why in a comment on the line above its fence: `<!-- not run: it never ends -->`. Long
runs are shortened by one rule: below `<!-- shortened: CI trains for 2,000 steps -->` the durations of `DURATIONS` stand
in place of those of the page.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^(?P<above>[^\n]*)\n+```(?P<language>python|py|sh)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: .+ -->")
SHORTENED = re.compile(r"<!-- shortened: .+ -->")
DURATIONS = {r"--(minutes|steps) [\d.]+": "--steps 2000", r"--million [\d.]+": "--million 0.06"}
COMMAND = re.compile(r"^(?: {4,}|\t)\$? ?(npp-env|python|pip|make|tensorboard) ", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    name: str  # file:line
    code: str
    is_run: bool
    is_shell: bool = False


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        above = match["above"].strip()
        code = shortened(match["code"]) if SHORTENED.fullmatch(above) else match["code"]
        found.append(Block(f"{path.name}:{line}", code, not NOT_RUN.fullmatch(above), match["language"] == "sh"))
    return found


def shortened(code: str) -> str:
    """Commands with short durations in place of long ones."""
    short = code
    for long, instead in DURATIONS.items():
        short = re.sub(long, instead, short)
    assert short != code, f"there is nothing to shorten in {code}"
    return short


def missing_modules(code: str) -> list[str]:
    """Top-level modules that a piece of code imports and that are not installed."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    # Our adapters need the library that they adapt to.
    needs = {
        "npp_env.integrations.ray": "ray",
        "npp_env.integrations.rllib": "ray",
        "npp_env.integrations.sb3": "stable_baselines3",
        "npp_env.integrations.torch": "torch",
        "npp_env.learning.trainer": "torch",
        "npp_env.profiling.sb3": "stable_baselines3",
        "npp_env.profiling.tensorboard_writer": "torch",
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
        if block.is_shell:
            # What learns needs torch, and datasets need Minari.
            needs = {
                "npp-env train": "import torch",
                "leaky_loop": "import torch",
                "evaluate baseline:first_steps": "import torch",
                "evaluate baseline:all_levels": "import torch",
                "npp-env demos": "import minari",
                "--ray": "import ray",
            }
            if any(command in block.code and missing_modules(code) for command, code in needs.items()):
                left_out.append(block.name)
                continue
            run_shell(block)
            ran.append(block.name)
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


def run_shell(block: Block) -> None:
    """Run commands as a user would, with the `npp-env` of this interpreter."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", block.code], env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, f"{block.name}: {done.stdout}{done.stderr}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_document_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # for the examples
    ran, left_out = run_document(blocks_of(path))
    if not ran and left_out:
        pytest.skip("libraries are missing")


def test_blocks_are_found():
    assert "README.md" in {path.name for path in DOCUMENTS}
    assert sum(block.is_run for path in DOCUMENTS for block in blocks_of(path)) >= 5


def test_few_blocks_are_not_run():
    """What waits for a player, never ends, installs, wants several machines, or is what CI does anyway."""
    left_out = {
        path.name: [block.code.split()[0] for block in blocks_of(path) if not block.is_run] for path in DOCUMENTS
    }
    assert {name: words for name, words in left_out.items() if words} == {
        "README.md": ["make", "pip"],
        "clusters.md": ["npp-env", "from", "python3.11", "ray", "kubectl"],
        "ray.md": ["ray"],
        "training.md": ["tensorboard", "import"],
    }


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_no_command_hides_in_an_indented_block(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert COMMAND.search(text) is None


def test_durations_are_shortened_where_the_page_says_so(tmp_path):
    path = tmp_path / "x.md"
    command = "npp-env train --minutes 2.5 --out a\nnpp-env soak --million 3\nnpp-env train --steps 10000\n"
    path.write_text(f"Text.\n\n```sh\n{command}```\n\n<!-- shortened: for CI -->\n```sh\n{command}```\n")
    as_written, short = blocks_of(path)
    assert as_written.code == command
    assert short.code == "npp-env train --steps 2000 --out a\nnpp-env soak --million 0.06\nnpp-env train --steps 2000\n"
    assert as_written.is_run
    assert short.is_run
    with pytest.raises(AssertionError, match="nothing to shorten"):
        shortened("npp-env levels list")


def test_the_site_fetches_nothing():
    """Material asks GitHub for stars where it knows the repository, and Google for fonts unless told not to."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "repo_url" not in text
    assert "font: false" in text


def test_the_reader_of_blocks(tmp_path):
    path = tmp_path / "x.md"
    path.write_text(
        "Text.\n\n```python\nimport numpy\n```\n\n<!-- not run: endless -->\n```python\nx = 1\n```\n\n```sh\nls\n```\n"
    )
    first, second, third = blocks_of(path)
    assert (third.code, third.is_run, third.is_shell) == ("ls\n", True, True)
    assert run_document([third]) == (["x.md:13"], [])
    with pytest.raises(AssertionError, match=r"x\.md:1"):
        run_document([Block("x.md:1", "npp-env levels show nowhere", True, True)])
    assert (first.code, first.is_run, first.name) == ("import numpy\n", True, "x.md:4")
    assert (second.code, second.is_run) == ("x = 1\n", False)
    assert run_document([first, second]) == (["x.md:4"], [])
    broken = Block("y", "unheard_of", True)
    absent = Block("z", "import no_such_thing", True)
    with pytest.raises(NameError):
        run_document([broken, absent])
    assert run_document([absent, broken]) == ([], ["z", "y"])
    assert missing_modules("import numpy, no_such_thing.x\nfrom neither import y") == ["neither", "no_such_thing"]
