from __future__ import annotations

import json

import pytest

from level.samples import small_level
from npp_env.cli import main
from npp_env.level import save_level


@pytest.fixture
def folder(tmp_path):
    for k in range(3):
        level = small_level(extra=[(2, 20 + k, 20, 0, 0)])
        (tmp_path / "levels").mkdir(exist_ok=True)
        save_level(level, tmp_path / "levels" / f"{k}.txt")
    return tmp_path


def run(capsys, *arguments):
    code = main(["cache", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_warm_info_clear(folder, capsys):
    where = ("--directory", folder / "cache", "--json")
    code, out, _ = run(capsys, "warm", folder / "levels", *where)
    warmed = json.loads(out)
    assert (code, warmed["levels"], warmed["failed"]) == (0, 3, 0)
    assert warmed["artifacts"]["graph"] == {"built": 3, "found": 0}
    assert set(warmed["artifacts"]) == {"geometry", "graph", "distances"}
    _, out, _ = run(capsys, "warm", folder / "levels", "--artifacts", "geometry", *where)
    assert json.loads(out)["artifacts"] == {"geometry": {"built": 0, "found": 3}}

    _, out, _ = run(capsys, "info", *where)
    info = json.loads(out)
    files = list((folder / "cache").rglob("*.nppc"))
    assert info["levels"] == 3
    assert info["total"] == {"files": 3, "bytes": sum(path.stat().st_size for path in files)}
    assert {name: row["arrays"] for name, row in info["artifacts"].items()} == dict.fromkeys(warmed["artifacts"], 3)
    assert 0 < sum(row["bytes"] for row in info["artifacts"].values()) < info["total"]["bytes"]

    _, out, _ = run(capsys, "clear", *where)
    assert json.loads(out)["files"] == 3
    _, out, _ = run(capsys, "info", *where)
    assert json.loads(out)["total"] == {"files": 0, "bytes": 0}


def test_tables_for_people(folder, capsys):
    where = ("--directory", folder / "cache")
    for action, words in (
        (("warm", folder / "levels"), ["3 of 3 levels", "graph", "built"]),
        (("info",), ["3 levels in 3 files", "distances"]),
        (("clear",), ["3 files removed"]),
    ):
        code, out, _ = run(capsys, *action, *where)
        assert code == 0
        assert all(word in out for word in words)


def test_a_level_that_cannot_be_loaded_is_named(folder, capsys):
    (folder / "levels" / "bad.txt").write_text("nonsense")
    code, out, err = run(capsys, "warm", folder / "levels", "--directory", folder / "cache")
    assert code == 1
    assert "3 of 4 levels" in out
    assert "bad.txt" in err


def test_mistakes(folder, capsys, monkeypatch):
    code, _, err = run(capsys, "warm", folder / "levels", "--artifacts", "nonsense")
    assert (code, "geometry, background, graph, distances" in err) == (2, True)
    code, _, err = run(capsys, "warm", folder / "nowhere")
    assert (code, "no such file" in err) == (2, True)
    monkeypatch.setenv("NPP_ENV_CACHE", "off")
    code, _, err = run(capsys, "info")
    assert (code, "--directory" in err) == (2, True)
