"""What places that were seldom entered are worth."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from npp_env import NppVectorEnv
from npp_env.errors import ConfigError
from npp_env.learning.novelty import CELL_PX, Novelty
from npp_env.learning.ppo import PPO, PPOOptions
from npp_env.learning.settings import TrainSettings
from npp_env.observe.state_row import STATE_ROW
from npp_env.sim.structs import NINJA

ROWS = {"observation": {"layout": "state"}, "autoreset_mode": "SAME_STEP"}


def row_of(level: int, x: float, y: float, switches: int = 0) -> np.ndarray:
    row = np.zeros(STATE_ROW.itemsize + NINJA.itemsize + 24, np.uint8)
    row[: STATE_ROW.itemsize].view(STATE_ROW)["level_index"] = level
    ninja = row[STATE_ROW.itemsize : -24].view(NINJA)
    ninja["x"], ninja["y"], ninja["switches"] = x, y, switches
    return row


def test_each_cell_of_each_level_before_and_after_the_switch_is_a_place():
    novelty = Novelty(1.0, 5)
    rows = np.stack(
        [
            row_of(level, CELL_PX * (column + 0.5), CELL_PX * (row + 0.5), switches)
            for level in range(5)
            for column in range(1, 43)
            for row in range(1, 24)
            for switches in (0, 1)
        ]
    )
    places = novelty.places(rows)
    assert np.sort(places).tolist() == list(range(len(novelty.counts)))
    near = np.stack([row_of(3, 100, 100), row_of(3, 110, 118), row_of(3, 100, 120), row_of(3, 100, 100, 2)])
    places = novelty.places(near).tolist()
    assert places[0] == places[1]
    assert len(set(places)) == 3
    # Beyond the borders nothing breaks.
    assert novelty.places(np.stack([row_of(0, -50, 9000), row_of(4, 1e4, -1e4)])).max() < len(novelty.counts)


@pytest.mark.parametrize(
    ("levels", "paid"),
    [
        ("shipped:doors", True),
        ("shipped", False),
        ("generated:corridors", False),
        ("generated:corridors?seeds=0-63", True),
    ],
)
def test_only_few_levels_have_places_that_pay(levels, paid):
    options = {"num_steps": 2, "minibatch": 4, "epochs": 1}
    made = PPO(TrainSettings(levels, num_envs=2, total_steps=8, algo_options=options))
    assert (made.novelty is not None) == paid
    made.iterate()


def test_what_is_known_is_worth_less():
    novelty = Novelty(0.5, 1)
    before, after = np.array([7, 7, 7, 9]), np.array([8, 7, 9, 8])
    # Two come to 8 at once: neither was there first.
    assert novelty.entered(before, after).tolist() == pytest.approx([0.5 / 2**0.5, 0, 0.5, 0.5 / 2**0.5])
    assert novelty.entered(before[:1], after[:1]).tolist() == pytest.approx([0.5 / 3**0.5])
    assert novelty.counts[[7, 8, 9]].tolist() == [0, 3, 1]


def ppo(**options):
    algo_options = {"num_steps": 16, "minibatch": 64, "epochs": 1, **options}
    return PPO(TrainSettings("shipped:first_steps", num_envs=8, total_steps=5000, algo_options=algo_options))


def test_a_rollout_is_paid_for_the_places_that_it_enters():
    paid, plain = ppo(novelty=0.5), ppo(novelty=0.0)
    assert plain.novelty is None
    for made in (paid, plain):
        made.collect()
    np.testing.assert_array_equal(paid.actions, plain.actions)
    more = paid.rewards - plain.rewards
    # Seen from outside: every change of the cell within an episode, whoever counts it.
    places = np.stack([paid.novelty.places(paid.store[t]) for t in range(16)])
    moved = (places[1:] != places[:-1]) & ~paid.ended[:-1]
    assert moved.sum() > 5
    np.testing.assert_array_equal(more[:-1] > 1e-6, moved)
    assert more.max() <= 0.5 + 1e-6
    assert paid.novelty.counts.sum() == (more > 1e-6).sum()
    assert "novelty" not in plain.arrays()


def test_nobody_is_paid_for_being_brought_somewhere():
    """Restarts and second tries are no steps."""
    made = PPO(
        TrainSettings(
            "shipped:mines",
            num_envs=32,
            total_steps=50_000,
            environment={"max_episode_frames": 200},
            algo_options={"num_steps": 64, "minibatch": 64, "novelty": 0.5, "second_tries": 1.0},
        )
    )
    entered = []
    count = made.novelty.entered
    made.novelty.entered = lambda before, after: entered.append((before, after)) or count(before, after)
    for _ in range(3):
        entered.clear()
        made.collect()
        places = np.stack([made.novelty.places(made.store[t]) for t in range(64)])
        for t, (before, after) in enumerate(entered):
            np.testing.assert_array_equal(before, places[t])
            assert (before == after)[made.ended[t]].all()
    assert made.bench.repeated.any()


def test_it_must_not_be_negative():
    for novelty in (-0.1, float("nan")):
        with pytest.raises(ConfigError, match="novelty"):
            PPOOptions(novelty=novelty)


def test_places_agree_with_play():
    env = NppVectorEnv(4, levels="shipped:first_steps", **ROWS)
    rows, _ = env.reset(seed=0, options={"level": [0, 1, 2, 2]})
    novelty = Novelty(1.0, env.num_levels)
    start = novelty.places(rows)
    assert start[2] == start[3]
    assert len(set(start.tolist())) == 3
    for _ in range(30):
        rows = env.step(np.array([2, 2, 2, 0]))[0]
    assert (novelty.places(rows)[:3] != start[:3]).all()
