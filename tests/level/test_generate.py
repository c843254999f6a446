from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import LevelError
from npp_env.level.generate import ANY, ANY_FAMILIES, FAMILIES, GeneratedLevels, generate, parse_generated
from npp_env.level.level_set import LevelSet
from npp_env.planning import SolveBudget, solve

difficulties = st.floats(0, 1)
seeds = st.integers(0, 2**40)
LATE = (12, 13, 15, 18, 19)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([*FAMILIES, ANY]), difficulties, seeds)
def test_every_level_is_sound_and_determined_by_its_arguments(kind, difficulty, seed):
    level = generate(kind, difficulty, seed)
    assert level == generate(kind, difficulty, seed)
    late = {"ambushes", "shadows"}
    assert all("is unverified" in line for line in level.warnings)
    assert not level.warnings or kind in late
    # The ninja and the switches stand in open space.
    x, y = (level.records[:, 1] // 4).astype(int), (level.records[:, 2] // 4).astype(int)
    for k in np.flatnonzero(np.isin(level.records[:, 0], (0, 3, 4, 7))):
        assert level.tiles[y[k] - 1, x[k] - 1] == 0, (kind, level.records[k])


@pytest.mark.parametrize("kind", FAMILIES)
def test_neighbouring_seeds_have_little_in_common(kind):
    levels = [generate(kind, 0.5, seed) for seed in range(40)]
    assert len(set(levels)) == 40


@pytest.mark.parametrize("kind", FAMILIES)
def test_true_tile_shapes_are_used(kind):
    shapes = set(np.unique(np.concatenate([generate(kind, 0.5, seed).tiles for seed in range(30)])).tolist())
    assert shapes & {6, 7, 8, 9}
    assert shapes & set(range(10, 18))


def test_harder_levels_hold_more_dangers():
    dangers_of = {
        "minefields": (1,),
        "hazards": (14, 16, 20, 25, 26, 28),
        "mazes": (6,),
        "ambushes": LATE,
        "shadows": (22,),
    }
    for kind, dangers in dangers_of.items():
        easy, hard = (
            sum(np.isin(generate(kind, d, seed).records[:, 0], dangers).sum() for seed in range(40)) for d in (0.0, 1.0)
        )
        assert hard > 1.5 * easy, kind


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_sample_can_be_solved(kind):
    # `benchmarks/solver.py` draws larger samples, of all difficulties.
    budget = SolveBudget(ticks=4_000_000, shorten_ticks=0, memory_mb=64)
    assert any(solve(generate(kind, 0.2, seed), budget=budget).solved for seed in range(500, 503))


def test_ambushes_and_shadows_hold_what_they_are_named_for():
    ambushes = np.concatenate([generate("ambushes", 0.5, seed).records[:, 0] for seed in range(30)])
    assert set(ambushes.tolist()) >= set(LATE)
    for seed in range(30):
        assert 1 <= (generate("shadows", seed / 29, seed).records[:, 0] == 22).sum() <= 3


def test_seeds_mean_what_they_meant():
    # Results are compared by family, difficulty and seed; a family that comes later must not move them.
    kinds = ("corridors", "caverns", "platforms", "towers", "mazes", "minefields", "hazards", ANY)
    hashes = [generate(kind, d, seed).hash for kind in kinds for d in (0.0, 0.4, 1.0) for seed in (0, 1, 100_000)]
    assert hashlib.sha256("".join(hashes).encode()).hexdigest()[:16] == "854a975bfeb40fbc"


def test_the_same_levels_in_another_process():
    code = "from npp_env.level.generate import generate, FAMILIES; print([generate(k, .4, 9).hash for k in FAMILIES])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "77"},
    )
    assert done.stdout.strip() == str([generate(kind, 0.4, 9).hash for kind in FAMILIES])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cave", 0.5, 0), "no family 'cave'.*caverns"),
        (("caverns", 1.5, 0), "difficulty is 1.5"),
        (("caverns", float("nan"), 0), "difficulty is nan"),
        (("caverns", 0.5, -1), "seed is -1"),
        (("caverns", 0.5, 1.5), "seed is 1.5"),
        (("caverns", 0.5, True), "seed is True"),
    ],
)
def test_arguments_out_of_range(arguments, message):
    with pytest.raises(LevelError, match=message):
        generate(*arguments)


def test_streams():
    stream = LevelSet.parse("generated:caverns?difficulty=0.3&seeds=5-14")
    assert len(stream) == 10
    assert stream.names() == [level.name for level in stream]
    assert stream[0] == generate("caverns", 0.3, 5)
    assert stream[9] == generate("caverns", 0.3, 14)
    with pytest.raises(IndexError):
        stream[10]
    endless = LevelSet.parse("generated:towers")
    assert not endless.is_finite
    assert endless[12345] == generate("towers", seed=12345)


def test_curriculum_rises():
    stream = parse_generated("any?difficulty=0.1-0.9&seeds=0-8")
    assert stream(0).metadata["difficulty"] == "0.1"
    assert stream(8).metadata["difficulty"] == "0.9"
    assert stream(4).metadata["difficulty"] == "0.5"
    assert {stream(k).metadata["group"] for k in range(7)} == {f"generated_{kind}" for kind in ANY_FAMILIES}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cave", "no family"),
        ("caverns?dificulty=1", "unknown option 'dificulty'"),
        ("caverns?difficulty=x", "write difficulty="),
        ("caverns?seeds=9-3", "at least one"),
        ("caverns?difficulty=0.1-0.5", "needs seeds="),
        ("caverns?difficulty=0.1-5&seeds=0-9", "difficulty is 5"),
    ],
)
def test_streams_that_make_no_sense(text, message):
    with pytest.raises(LevelError, match=message):
        LevelSet.parse(f"generated:{text}")


def test_train_and_test_seeds_do_not_overlap():
    train, test = GeneratedLevels("towers", 0.5, 0, 30), GeneratedLevels("towers", 0.5, 30, 30)
    assert not {train(k) for k in range(30)} & {test(k) for k in range(30)}


def test_environments_take_generated_levels():
    code = (
        "import gymnasium as gym, pickle\n"
        "env = gym.make('npp_env:Npp-v0', levels='generated:caverns?difficulty=0.3&seeds=0-9')\n"
        "env.reset(seed=1)\n"
        "pickle.dumps(env.unwrapped)\n"
        "print(env.step(2)[3])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
