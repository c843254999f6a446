"""`npp-env levels` and its neighbours with packs, folders and generated sets."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

from npp_env.cli import main
from npp_env.level import Level, in_game_form, load_level, read_map, read_pack, save_level, write_map, write_pack
from npp_env.level.shipped import load_shipped
from npp_env.recording import Recording, load_recording, save_recording
from npp_env.recording.replay import replay

from .packs import SIMPLE, pack_line, sample_pack
from .samples import small_level


def run(capsys, *arguments, code: int = 0) -> tuple[str, str]:
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture
def pack(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(sample_pack())
    return path


def test_list_shows_numbers_titles_and_names(capsys, pack):
    out, err = run(capsys, "levels", "list", f"pack:{pack}")
    head, *rows = out.splitlines()
    assert head.split() == ["number", "entities", "title", "name"]
    assert [row.split()[:3] for row in rows] == [["0", "2", "one"], ["1", "56", "crowd"], ["2", "8", "doors"]]
    assert all(row.endswith(f"pack:{pack}#{row.split()[2]}") for row in rows)
    assert "1 of 3 levels holds entities that are not simulated" in err
    data = json.loads(run(capsys, "levels", "list", f"pack:{pack}", "--json")[0])
    assert data[2]["hash"] == load_level_of(pack, 2).hash
    _, err = run(capsys, "levels", "list", "pack:nowhere", code=2)
    assert "no such file" in err


def load_level_of(pack, number: int) -> Level:
    return read_pack(pack.read_bytes())[number]


def test_show_marks_what_is_not_simulated(capsys, pack):
    out, _ = run(capsys, "levels", "show", f"pack:{pack}#1")
    assert "  ? not simulated: " in out
    assert "unused-27 x2" in out.splitlines()[-1]
    assert sum(line.count("?") for line in out.splitlines()[1:26]) >= 2
    out, _ = run(capsys, "levels", "show", f"pack:{pack}#doors")
    assert "?" not in out
    _, err = run(capsys, "levels", "show", f"pack:{pack}", code=2)
    assert f"names 3 levels; name one, such as pack:{pack}#one" in err


def test_validate_takes_packs_and_folders(capsys, pack):
    out, _ = run(capsys, "levels", "validate", f"pack:{pack}")
    assert out.count(": valid, ") == 3
    (pack.parent / "stray.txt").write_text("shopping list")
    out, err = run(capsys, "levels", "validate", pack.parent, code=2)
    assert out.count(": valid, ") == 3
    assert err.count("stray.txt") == 1
    pack.write_bytes(sample_pack() + b"$x#0#")
    _, err = run(capsys, "levels", "validate", f"pack:{pack}", code=2)
    assert "some.txt: line 4, offset 4: an odd number of digits" in err


def test_a_pack_to_a_folder_and_back_is_the_same_to_the_byte(capsys, pack, tmp_path):
    for kind, suffix in (("map", "nppmap"), ("text", "txt")):
        folder = tmp_path / kind
        out, _ = run(capsys, "levels", "convert", f"pack:{pack}", folder, "--to", kind)
        assert "3 levels" in out
        assert sorted(path.name for path in folder.iterdir()) == [
            f"0_one.{suffix}",
            f"1_crowd.{suffix}",
            f"2_doors.{suffix}",
        ]
        back = tmp_path / f"back-{kind}.txt"
        run(capsys, "levels", "convert", folder, f"pack:{back}")
        assert back.read_bytes() == pack.read_bytes()
    assert (tmp_path / "map" / "0_one.nppmap").read_bytes() == write_map(load_level_of(pack, 0))


def test_one_level_between_all_formats(capsys, pack, tmp_path):
    level = load_level_of(pack, 2)
    chain = [
        f"pack:{pack}#2",
        tmp_path / "a.nppmap",
        tmp_path / "b.txt",
        f"pack:{tmp_path / 'c.pack'}",
        tmp_path / "d.txt",
    ]
    for source, target in itertools.pairwise(chain):
        data = json.loads(run(capsys, "levels", "convert", source, target, "--json")[0])
        assert (data["hash"], data["levels"], data["changed"]) == (level.hash, 1, 0)
    assert (tmp_path / "c.pack").read_bytes() == pack.read_bytes().splitlines(keepends=True)[2]
    assert load_level(tmp_path / "d.txt").header == level.header


def test_conversions_that_cannot_be_are_refused_before_anything_is_written(capsys, pack, tmp_path):
    for arguments, complaint in (
        ((f"pack:{pack}", tmp_path / "a.txt"), "holds one level, but 3 are given"),
        ((f"pack:{pack}", tmp_path / "a.png"), "the suffix is '.png'"),
        ((f"pack:{pack}#0", f"pack:{pack}"), "-f overwrites it"),
        ((f"pack:{pack}#0", f"pack:{tmp_path}/no/where"), "there is no folder"),
        (("first_steps/walk", f"pack:{tmp_path / 'new'}"), "not as the game orders them"),
        (("generated:towers", f"pack:{tmp_path / 'new'}"), "this set has no end"),
    ):
        _, err = run(capsys, "levels", "convert", *arguments, code=2)
        assert complaint in err
    assert [path.name for path in tmp_path.iterdir()] == ["some.txt"]
    assert pack.read_bytes() == sample_pack()


def test_converting_keeps_the_order_unless_the_form_of_the_game_is_asked_for(capsys, tmp_path):
    level = load_shipped("first_steps/walk")
    plain, sorted_ = tmp_path / "plain.nppmap", tmp_path / "game.nppmap"
    run(capsys, "levels", "convert", "first_steps/walk", plain)
    assert plain.read_bytes()[1230:] == level.records.tobytes()
    out, _ = run(capsys, "levels", "convert", "first_steps/walk", sorted_, "--game")
    assert "recordings of them do not fit" in out
    records = np.frombuffer(sorted_.read_bytes()[1230:], np.uint8).reshape(-1, 5)
    assert records[:, 0].tolist() == sorted(level.records[:, 0].tolist())
    target = tmp_path / "mines.txt"
    data = json.loads(run(capsys, "levels", "convert", "shipped:mines", f"pack:{target}", "--game", "--json")[0])
    assert data["changed"] == data["levels"] == len(read_pack(target.read_bytes()))


def test_replay_and_solve_take_a_level_of_a_pack(capsys, tmp_path):
    level = in_game_form(load_shipped("first_steps/walk"))
    path = tmp_path / "p"
    path.write_bytes(pack_line("other", SIMPLE) + b"\n" + write_pack([level]))
    recording = tmp_path / "won.npprec"
    run(capsys, "solve", f"pack:{path}#1", "--no-progress", "--shorten-ticks", "0", "-o", recording)
    assert load_recording(recording).level == level
    bare = tmp_path / "bare.npprec"
    save_recording(Recording(None, level.hash, load_recording(recording).inputs), bare)
    out, _ = run(capsys, "replay", bare, "--level", f"pack:{path}#{level.name}")
    assert out.startswith("won")
    inputs = tmp_path / "inputs"
    inputs.write_bytes(load_recording(recording).inputs.tobytes())
    assert run(capsys, "replay", f"pack:{path}#1", inputs)[0] == out
    out, _ = run(capsys, "cache", "warm", f"pack:{path}", "--artifacts", "geometry", "--directory", tmp_path / "cache")
    assert "2 of 2 levels" in out


def test_generate_writes_a_pack(capsys, tmp_path):
    target = tmp_path / "towers.txt"
    run(
        capsys, "levels", "generate", "towers", "--count", "3", "-o", f"pack:{target}", "--certify", "--difficulty", "0"
    )
    levels = read_pack(target.read_bytes())
    assert len(levels) == 3
    proofs = sorted(tmp_path.glob("*.npprec"))
    assert len(proofs) == 3
    assert {load_recording(proof).level_hash for proof in proofs} == {level.hash for level in levels}
    assert all(replay(load_recording(proof)).outcome == "won" for proof in proofs)
    _, err = run(capsys, "levels", "generate", "towers", "-o", f"pack:{target}", code=2)
    assert "-f overwrites it" in err


def test_sheet_takes_packs(capsys, pack):
    out, _ = run(capsys, "levels", "sheet", f"pack:{pack}", "-o", pack.parent / "sheet.png")
    assert "3 levels" in out


@pytest.mark.parametrize("command", ["show", "replay", "solve", "validate"])
def test_shipped_levels_go_by_their_set_too(capsys, command):
    arguments = {"show": ["levels", "show"], "validate": ["levels", "validate"]}.get(command, [command])
    options = ["--no-progress", "--shorten-ticks", "0"] if command == "solve" else []
    plain = run(capsys, *arguments, "first_steps/walk", *options)[0]
    by_set = run(capsys, *arguments, "shipped:first_steps/walk", *options)[0]
    assert len(plain.splitlines()) == len(by_set.splitlines())


@pytest.mark.parametrize("command", [["levels", "show"], ["replay"], ["solve"], ["play"]])
@pytest.mark.parametrize(
    ("wrong", "meant"), [("wlak", "first_steps/walk"), ("ring", "mines/ring"), ("qqqqq", "levels list")]
)
def test_wrong_names_get_the_right_hint(capsys, command, wrong, meant):
    _, err = run(capsys, *command, wrong, code=2)
    assert meant in err
    assert "bounce_blocks" not in err


@pytest.mark.parametrize("name", ["level.txt", "level.nppmap", "level.pack"])
def test_a_level_in_place_of_a_recording_is_called_by_its_name(capsys, tmp_path, name):
    path = tmp_path / name
    if path.suffix == ".pack":
        path.write_bytes(sample_pack())
    else:
        save_level(small_level(), path)
    _, err = run(capsys, "replay", path, code=2)
    assert f"{name}: this is a level, not a recording" in err


def test_warnings_of_levels_are_lines_for_people(tmp_path):
    (tmp_path / "stray.txt").write_text("shopping list")
    save_level(small_level(), tmp_path / "level.txt")
    command = [sys.executable, "-m", "npp_env", "levels", "list", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.startswith(f"npp-env: warning: {tmp_path}: a file is left out: ")
    assert done.stderr.count("\n") == 1


def test_maps_of_the_game_without_suffix(capsys, tmp_path):
    (tmp_path / "My Level").write_bytes(write_map(small_level(name="My Level")))
    out, _ = run(capsys, "levels", "show", tmp_path / "My Level")
    assert out.startswith("My Level")
    run(capsys, "levels", "convert", tmp_path, f"pack:{tmp_path / 'p.txt'}")
    assert read_pack((tmp_path / "p.txt").read_bytes()) == [read_map(write_map(small_level()))]


@pytest.mark.parametrize(
    ("arguments", "suffixes"),
    [
        (["solve", "first_steps/walk", "-o", "run.txt"], ".npprec"),
        (["replay", "first_steps/walk", "-o", "run.png"], ".gif or .mp4"),
        (["replay", "first_steps/walk", "--trace", "run.npy"], ".npz"),
        (["levels", "convert", "first_steps/walk", "walk.map"], ".txt for text, .nppmap for a binary map"),
        (["levels", "show", "first_steps/walk", "-o", "walk.gif"], "name it walk.png"),
        (["levels", "sheet", "first_steps/walk", "-o", "walk.gif"], "name it walk.png"),
    ],
)
def test_wrong_suffixes_are_refused(capsys, tmp_path, monkeypatch, arguments, suffixes):
    monkeypatch.chdir(tmp_path)
    _, err = run(capsys, *arguments, code=2)
    assert suffixes in err
    assert list(tmp_path.iterdir()) == []
