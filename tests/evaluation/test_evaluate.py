"""Evaluations: what is measured is what single environments give, and nothing depends on how it is played."""

from __future__ import annotations

import json

import numpy as np
import pytest

from npp_env import EnvironmentConfig, NppEnv
from npp_env.errors import ConfigError
from npp_env.evaluation.baselines import baseline_policy
from npp_env.evaluation.evaluate import EvaluationOptions, evaluate
from npp_env.evaluation.policy import FunctionPolicy, PolicyError
from npp_env.evaluation.report import format_table
from npp_env.evaluation.scores import EPISODE, Evaluation, EvaluationError, LevelInfo
from npp_env.recording.replay import replay

LEVELS = ["shipped:first_steps", "shipped:mines/ring"]
CONFIG = EnvironmentConfig.for_training(frame_skip=3, reward={"gold_weight": 0.7}, max_episode_frames=500)


def by_position(observations, masks):
    """Something that depends on all that is seen, and on nothing else."""
    seen = np.concatenate([observations[key].reshape(len(masks), -1) for key in sorted(observations)], axis=1)
    return (np.abs(seen.astype(np.float64)).sum(axis=1) * 1000).astype(np.int64) % 6


def played_alone(level: int) -> tuple[int, int, int, float]:
    """Outcome, frames, gold and return of one episode in a single environment."""
    env = NppEnv(CONFIG, levels=LEVELS)
    observation, _ = env.reset(options={"level": level})
    ended = False
    while not ended:
        batch = {key: value[None] for key, value in observation.items()}
        action = int(by_position(batch, env.action_masks()[None])[0])
        observation, _, won_or_died, late, info = env.step(action)
        ended = won_or_died or late
    return info["outcome"], info["frame"], info["gold"], info["episode_return"]


@pytest.mark.parametrize("num_envs", [1, 3, 100])
def test_a_policy_plays_as_in_single_environments(num_envs):
    options = EvaluationOptions(num_envs=num_envs, episodes=4)
    result, kept = evaluate(FunctionPolicy(by_position, CONFIG), LEVELS, options)
    # It leaves nothing to chance, so that one episode says all.
    assert len(result.episodes) == len(result.levels) == 7
    for row, both in zip(result.episodes, kept, strict=True):
        expected = played_alone(int(row["level"]))
        assert (row["outcome"], row["frames"], row["gold"]) == expected[:3]
        assert row["episode_return"] == expected[3]
        assert both.best == both.worst
        assert replay(both.best).frames == row["frames"]


def test_chance_comes_from_the_seed_alone():
    def run(**options):
        return evaluate(baseline_policy("random"), "shipped:first_steps", EvaluationOptions(episodes=6, **options))[0]

    first = run(seed=5)
    assert len(first.episodes) == 36
    assert (first.episodes == run(seed=5).episodes).all()
    assert (first.episodes == run(seed=5, threads=2, record=False).episodes).all()
    assert not (first.episodes == run(seed=6).episodes).all()
    assert len(set(first.episodes["frames"].tolist())) > 6


def test_idle_starts_make_a_fixed_policy_play_different_episodes():
    policy = FunctionPolicy(by_position, CONFIG)
    result, kept = evaluate(policy, "shipped:first_steps", EvaluationOptions(episodes=5, idle_steps=8))
    assert len(result.episodes) == 30
    assert len({(row["level"], row["frames"], row["episode_return"]) for row in result.episodes}) > 10
    for both in kept:
        assert both.best.outcome in ("won", "died", "alive")


def test_the_best_and_the_worst_are_kept():
    result, kept = evaluate(baseline_policy("path"), "shipped:first_steps", EvaluationOptions(episodes=12, num_envs=20))
    for number, both in enumerate(kept):
        rows = result.episodes[result.episodes["level"] == number]
        wins, losses = rows[rows["outcome"] == 1], rows[rows["outcome"] != 1]
        assert len(wins) > 0
        assert (both.best.outcome, both.best.frames) == ("won", wins["frames"].min())
        if len(losses):
            worst = losses[losses["episode_return"].argmin()]
            assert (both.worst.frames, both.worst.gold) == (worst["frames"], worst["gold"])
        else:
            assert both.worst.frames == wins["frames"].max()
        for recording in (both.best, both.worst):
            assert replay(recording).outcome == recording.outcome


def test_policies_that_remember_are_told_of_every_new_episode():
    class Counting:
        config = CONFIG
        deterministic = False

        def begin(self, num_envs, seed):
            self.steps = np.zeros(num_envs, int)
            self.restarts = 0

        def act(self, observations, masks):
            # Its own count of steps must agree with the time that is left.
            if "game_state" in observations:
                left = observations["game_state"][:, 31].astype(float)
                assert np.allclose(left, 1 - self.steps * 3 / 500, atol=0.01)
            self.steps += 1
            return np.full(len(masks), 3)

        def restart(self, rows):
            self.steps[rows] = 0
            self.restarts += int(rows.sum())

    policy = Counting()
    result, _ = evaluate(policy, LEVELS, EvaluationOptions(episodes=3, num_envs=4))
    assert policy.restarts >= len(result.episodes) == 21


def test_episodes_without_a_limit_get_one():
    policy = FunctionPolicy(lambda observations, masks: np.zeros(len(masks), int), {"max_episode_frames": None})
    result, _ = evaluate(policy, "shipped:first_steps/walk")
    assert result.total.out_of_time == 1


def test_summaries_add_up():
    levels = tuple(LevelInfo(name, group, "0" * 32, 3) for name, group in (("a", "x"), ("b", "x"), ("c", "y")))
    rows = [(0, 0, 1, 100, 3, 1.0), (0, 1, 2, 50, 0, -1.0), (1, 0, 1, 300, 1, 2.0), (1, 1, 1, 200, 2, 4.0)]
    rows += [(2, 0, 3, 900, 0, 0.0), (2, 1, 2, 10, 0, -2.0)]
    result = Evaluation("p", levels, np.array(rows, EPISODE), {"episodes_per_level": 2})
    assert result.groups == ("x", "y")
    group = result.of_group("x")
    assert (group.episodes, group.won, group.died, group.out_of_time) == (4, 3, 1, 0)
    assert (group.success.mean, group.frames.mean, group.gold.mean) == (0.75, 200.0, 1.5)
    assert group.episode_return.mean == 1.5
    assert result.of_level(2).frames.mean is None
    assert (result.total.out_of_time, result.total.success.mean) == (1, 0.5)
    again = Evaluation.from_dict(json.loads(json.dumps(result.to_dict())))
    assert (again.levels, again.policy) == (result.levels, result.policy)
    assert (again.episodes == result.episodes).all()
    table = format_table(result)
    assert max(map(len, table.splitlines())) <= 80
    assert "3 won, 2 died, 1 out of time" in table
    assert " 75 % (30-95)" in table


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"format": "npp-env evaluation"}, {"format": "npp-env evaluation", "version": 1},
     {"format": "npp-env evaluation", "version": 1, "policy": "", "settings": 3, "levels": [{}]}],
)  # fmt: skip
def test_what_is_no_evaluation_is_refused(data):
    with pytest.raises(EvaluationError):
        Evaluation.from_dict(data)


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"seed": -1}, {"num_envs": 0}, {"idle_steps": -1}, {"seed": 1.5}])
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        EvaluationOptions(**wrong)


def test_wrong_policies_and_levels_are_refused():
    with pytest.raises(PolicyError, match="action 7"):
        evaluate(FunctionPolicy(lambda observations, masks: np.full(len(masks), 7)), "shipped:first_steps")
    with pytest.raises(EvaluationError, match="no end"):
        evaluate(baseline_policy("random"), "generated:caverns?difficulty=0.3")
