"""`npp-env bench` runs the benchmarks of a source checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npp_env.cli import main
from npp_env.cli.bench import checkout_root
from npp_env.errors import NppError


def test_runs_one_benchmark(tmp_path, capsys, monkeypatch):
    import benchmarks.environments as environments

    table = {"title": "Steps", "header": ["what", "count"], "rows": [["a", 1234]]}
    monkeypatch.setattr(environments, "run", lambda quick: table if quick else None)
    assert main(["bench", "environments", "--quick", "--json", str(tmp_path / "out.json")]) == 0
    printed = capsys.readouterr().out
    assert "## Steps" in printed
    assert "1,234" in printed
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["results"]["environments"]["rows"] == [["a", 1234]]
    assert found["machine"]["versions"]["numpy"]


def test_unknown_names_are_refused(capsys):
    assert main(["bench", "nothing_of_this_name"]) == 2
    assert "nothing_of_this_name" in capsys.readouterr().err


def test_without_a_checkout(tmp_path):
    with pytest.raises(NppError, match="source checkout"):
        checkout_root(tmp_path / "npp_env")
    assert (checkout_root() / "benchmarks" / "__main__.py").is_file()


def test_every_benchmark_can_be_run():
    root = Path(checkout_root())
    for path in sorted((root / "benchmarks").glob("[!_]*.py")):
        assert "def run(quick: bool)" in path.read_text(encoding="utf-8"), path.name
