"""`npp-env view`: the page as a file; `test_viewer.py` looks at it in a browser."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from npp_env.cli import main
from npp_env.evaluation.page import Run, page
from npp_env.level.model import Level
from npp_env.recording import Recording, load_shipped_recording, save_recording


def data_of(text: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_holds_everything_and_fetches_nothing(tmp_path, capsys):
    save_recording(load_shipped_recording("mines/ring"), tmp_path / "mine.npprec")
    out = tmp_path / "page.html"
    arguments = ["view", "first_steps/walk", "shipped:mines/ring", str(tmp_path / "mine.npprec"), "-o", str(out)]
    assert main(arguments) == 0
    assert "3 runs on 2 levels" in capsys.readouterr().out
    text = out.read_text()
    assert not re.search(r"https?://|src=\"[^d]|@import|url\(", text)
    data = data_of(text)
    assert [level["title"] for level in data["levels"]] == ["Walk", "Mine ring"]
    assert [run["level"] for run in data["runs"]] == [0, 1, 1]
    assert data["runs"][2]["name"] == "mine"
    assert len(out.read_bytes()) < 150_000
    assert main(arguments) == 2
    assert "-f overwrites" in capsys.readouterr().err
    assert main([*arguments, "-f"]) == 0


def test_a_folder_and_an_evaluation_are_shown(tmp_path, capsys):
    run = tmp_path / "run"
    levels = ["--levels", "shipped:first_steps", "--episodes", "3"]
    assert main(["evaluate", "baseline:path", *levels, "--out", str(run), "--html", str(tmp_path / "e.html")]) == 0
    assert "e.html" in capsys.readouterr().err
    for source in (run, run / "evaluation.json"):
        assert main(["view", str(source), "-o", str(tmp_path / "v.html"), "-f"]) == 0
        data = data_of((tmp_path / "v.html").read_text())
        assert data["evaluation"]["total"]["episodes"] == 18
        assert len(data["levels"]) == 6
        assert all(level["score"]["episodes"] == 3 for level in data["levels"])
        assert {item["name"] for item in data["runs"]} == {"best", "worst"}
    assert data == data_of((tmp_path / "e.html").read_text())
    (run / "evaluation.json").unlink()
    assert main(["view", str(run), "-o", str(tmp_path / "f.html")]) == 0
    assert data_of((tmp_path / "f.html").read_text())["evaluation"] is None


def test_nothing_of_a_level_can_break_the_page():
    winning = load_shipped_recording("first_steps/walk")
    nasty = '</script><script>alert(1)</script>"\\u0000<!--'
    level = Level.from_parts(winning.level.tiles, winning.level.records, name=nasty, metadata={"group": nasty})
    text = page([Run(nasty, Recording.of_level(level, winning.inputs))], title=nasty)
    assert text.count("<script") == 2
    assert "alert(1)</script>" not in text
    assert data_of(text)["levels"][0]["title"] == nasty


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no such file, and no shipped level"),
        (["first_steps/wlak"], "first_steps/walk"),
        (["first_steps/walk", "-o", "page.png"], "use .html"),
        (["first_steps/walk", "-o", "no/such/page.html"], "there is no folder"),
        (["{empty}"], "no recording"),
        (["{rubbish}"], "rubbish.npprec"),
        (["{json}"], "no evaluation"),
        (["{broken}"], "broken.json"),
        (["{level}"], "this is a level"),
    ],
)
def test_mistakes_are_explained(tmp_path, arguments, message, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "rubbish.npprec").write_bytes(bytes(range(100)))
    (tmp_path / "some.json").write_text("[1, 2]")
    (tmp_path / "broken.json").write_text("{")
    from npp_env.level.files import save_level
    from npp_env.level.shipped import load_shipped

    save_level(load_shipped("first_steps/walk"), tmp_path / "walk.txt")
    places = {"{empty}": "empty", "{rubbish}": "rubbish.npprec", "{json}": "some.json", "{broken}": "broken.json"}
    places["{level}"] = "walk.txt"
    words = [str(tmp_path / places[word]) if word in places else word for word in arguments]
    extra = [] if "-o" in words else ["-o", str(tmp_path / "page.html")]
    assert main(["view", *words, *extra]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_an_evaluation_cannot_lead_elsewhere(tmp_path, capsys):
    run = tmp_path / "run"
    assert (
        main(["evaluate", "baseline:path", "--levels", "first_steps/walk", "--episodes", "1", "--out", str(run)]) == 0
    )
    data = json.loads((run / "evaluation.json").read_text())
    data["levels"][0]["recordings"] = {"best": "../../secret"}
    (run / "evaluation.json").write_text(json.dumps(data))
    assert main(["view", str(run), "-o", str(tmp_path / "page.html")]) == 2
    assert "does not lie beside" in capsys.readouterr().err
    data["levels"][0]["recordings"] = {}
    (run / "evaluation.json").write_text(json.dumps(data))
    assert main(["view", str(run), "-o", str(tmp_path / "page.html")]) == 2
    assert "names no recordings" in capsys.readouterr().err


def test_a_recording_without_its_level_is_refused():
    winning = load_shipped_recording("first_steps/walk")
    with pytest.raises(Exception, match="not in the recording"):
        page([Run("x", Recording(None, winning.level_hash, np.zeros(3, np.uint8)))])
    with pytest.raises(Exception, match="no run"):
        page([])
