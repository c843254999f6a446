"""Datasets of demonstrations: Minari reads them, nothing is lost, and damage is named."""

from __future__ import annotations

import json
import os
import shutil
import sys

import numpy as np
import pytest

from npp_env.cli import main
from npp_env.errors import MissingDependencyError
from npp_env.learning.demo_files import MANIFEST, DemonstrationFiles, _digest, _digest_of, write_demonstrations
from npp_env.learning.demonstrations import DemoMaker, DemonstrationError, DemoOptions
from npp_env.learning.teacher import TeacherConfig

minari = pytest.importorskip("minari")
pytest.importorskip("pyarrow")

QUICK = TeacherConfig(ticks_per_state=30_000, solve_ticks=2_000_000, cached_states=1 << 14)


@pytest.fixture(scope="module")
def maker():
    return DemoMaker("shipped:first_steps/jump", DemoOptions(perturbed=1), QUICK)


@pytest.fixture(scope="module")
def episodes(maker):
    return list(maker.episodes())


@pytest.fixture
def folder(tmp_path, maker, episodes):
    write_demonstrations(tmp_path / "demos", maker.config, episodes)
    return tmp_path / "demos"


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_round_trip_is_byte_equal(tmp_path, folder, episodes):
    files = DemonstrationFiles(folder)
    read = list(files)
    assert len(read) == len(episodes) == 4
    for given, found in zip(episodes, read, strict=True):
        for name in ("rows", "actions", "rewards"):
            a, b = getattr(given, name), getattr(found, name)
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        assert (given.outcome, given.kind) == (found.outcome, found.kind)
    (tmp_path / "again").mkdir()
    write_demonstrations(tmp_path / "again" / "demos", files.config, files)
    assert files_of(tmp_path / "again" / "demos") == files_of(folder)


def test_minari_itself_reads_it(folder, episodes):
    dataset = minari.MinariDataset(folder)
    assert dataset.total_episodes == 4
    assert dataset.total_steps == sum(len(d.actions) for d in episodes)
    for given, found in zip(episodes, dataset.iterate_episodes(), strict=True):
        assert (found.observations == given.rows).all()
        assert found.actions.tolist() == given.actions.tolist()
        assert found.terminations.tolist() == [False] * (len(given.actions) - 1) + [True]
        assert all(row in dataset.observation_space for row in found.observations[:3])
    env = dataset.recover_environment()
    env.reset(seed=0)
    env.unwrapped.set_state(episodes[1].rows[0])
    for action in episodes[1].actions.tolist():
        row, _, terminated, _, _ = env.step(action)
    assert terminated
    assert (row == episodes[1].rows[-1]).all()


def corrupt(path, rng) -> None:
    """Damage a file somehow."""
    data = bytearray(path.read_bytes())
    place = int(rng.integers(0, len(data)))
    match int(rng.integers(0, 5)):
        case 0:
            data[place] ^= 1 << int(rng.integers(0, 8))
        case 1:
            del data[place:]
        case 2:
            data[place:place] = rng.bytes(int(rng.integers(1, 40)))
        case 3:
            data[place : place + 40] = rng.bytes(len(data[place : place + 40]))
            data[place] ^= 1
        case _:
            path.unlink()
            return
    path.write_bytes(bytes(data))


def forge(folder) -> None:
    """Make the digests fit what is there."""
    content = json.loads((folder / MANIFEST).read_bytes())
    content.pop("digest")
    content["files"] = {name: _digest(data) for name, data in files_of(folder).items() if name != MANIFEST}
    (folder / MANIFEST).write_text(json.dumps({**content, "digest": _digest_of(content)}))


def damaged_copies(folder, target, count: int, seed: int, forged: bool) -> dict[str, int]:
    """Read so many copies, each with one file damaged; how often what came of it."""
    rng = np.random.default_rng(seed)
    names = sorted(files_of(folder))
    tally: dict[str, int] = {}
    for _ in range(count):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
        corrupt(target / names[int(rng.integers(0, len(names)))], rng)
        outcome = "read"
        try:
            if forged and (target / MANIFEST).exists():
                try:
                    forge(target)
                except (ValueError, KeyError):
                    continue
            files = DemonstrationFiles(target)
            outcome = "replayed" if all(complaint is None for _, complaint in files.complaints()) else "told apart"
        except DemonstrationError as error:
            outcome = "refused" if str(target) in str(error) else f"refused without its name: {error}"
        tally[outcome] = tally.get(outcome, 0) + 1
    return tally


def test_damage_is_refused(folder, tmp_path):
    tally = damaged_copies(folder, tmp_path / "copy", 150, 1, forged=False)
    assert tally == {"refused": 150}


def test_damage_with_forged_digests_is_refused_told_apart_or_harmless(folder, tmp_path):
    """Harmless: bytes that nobody reads, or text that says the same."""
    tally = damaged_copies(folder, tmp_path / "copy", 40, 2, forged=True)
    assert set(tally) <= {"refused", "told apart", "replayed"}
    assert tally["refused"] + tally.get("told apart", 0) >= 15


def test_forged_manifests_are_refused(folder):
    true = json.loads((folder / MANIFEST).read_bytes())
    wrong = {
        "version": ({"version": 9}, "version 9"),
        "format": ({"format": "other"}, "not the manifest"),
        "episodes": ({"episodes": 3}, "lacks a list"),
        "entry": ({"episodes": [{"level": 1}]}, "episode 0 is"),
        "outcome": ({"episodes": [{**true["episodes"][0], "outcome": "bored"}]}, "episode 0 is"),
        "environment": ({"environment": {"frame_skip": -3}}, "frame_skip"),
        "files": ({"files": {"../x": "0"}}, "is damaged"),
    }
    for change, complaint in wrong.values():
        content = {**true, **change}
        content.pop("digest")
        (folder / MANIFEST).write_text(json.dumps({**content, "digest": _digest_of(content)}))
        with pytest.raises(DemonstrationError, match=complaint):
            DemonstrationFiles(folder)
    content = {**true, "environment": {**true["environment"], "levels": "shipped:first_sveps"}}
    content.pop("digest")
    (folder / MANIFEST).write_text(json.dumps({**content, "digest": _digest_of(content)}))
    with pytest.raises(DemonstrationError, match=f"{folder}.*first_steps"):
        list(DemonstrationFiles(folder).complaints())
    (folder / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(DemonstrationError, match="damaged"):
        DemonstrationFiles(folder)


def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / MANIFEST)
    with pytest.raises(DemonstrationError, match="is no file"):
        DemonstrationFiles(tmp_path)


def test_nothing_is_overwritten_or_left_behind(folder, maker, episodes, tmp_path):
    with pytest.raises(DemonstrationError, match="exists already"):
        write_demonstrations(folder, maker.config, episodes)
    write_demonstrations(folder, maker.config, episodes[:1], overwrite=True)
    assert len(DemonstrationFiles(folder)) == 1
    (tmp_path / "other").mkdir()
    with pytest.raises(DemonstrationError, match="is no dataset"):
        write_demonstrations(tmp_path / "other", maker.config, episodes, overwrite=True)
    with pytest.raises(DemonstrationError, match="no episodes"):
        write_demonstrations(tmp_path / "empty", maker.config, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demos", "other"]


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = "d"
    assert main(["demos", "make", "shipped:first_steps/walk", "-o", out, "--perturbed", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["episodes"], made["levels"]) == (4, 2)
    assert main(["demos", "info", out]) == 0
    assert "mirrored:first_steps/walk" in capsys.readouterr().out
    assert main(["demos", "verify", out]) == 0
    assert "4 of 4 episodes replay" in capsys.readouterr().out
    assert main(["demos", "make", "shipped:first_steps/walk", "-o", f"{out}2", "--perturbed", "0", "--no-mirror"]) == 0
    assert capsys.readouterr().err == ""  # no bar where nobody looks
    assert main(["demos", "make", "shipped:first_steps/walk", "-o", out]) == 2
    assert "exists already" in capsys.readouterr().err
    content = json.loads((tmp_path / "d" / MANIFEST).read_bytes())
    content.pop("digest")
    content["episodes"][1]["outcome"] = "died"
    (tmp_path / "d" / MANIFEST).write_text(json.dumps({**content, "digest": _digest_of(content)}))
    assert main(["demos", "verify", out]) == 1
    assert "episode 1: it ends with won, not died" in capsys.readouterr().err
    assert main(["demos", "info", str(tmp_path)]) == 2
    assert "is no dataset of demonstrations" in capsys.readouterr().err


def test_without_minari_the_pip_line_is_named(folder, maker, episodes, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "minari.dataset.minari_storage", None)
    with pytest.raises(MissingDependencyError, match=r"npp_env\[demos\]"):
        next(iter(DemonstrationFiles(folder)))
    with pytest.raises(MissingDependencyError, match=r"npp_env\[demos\]"):
        write_demonstrations(tmp_path / "more", maker.config, episodes)
