"""Policies: baselines, functions, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from npp_env import EnvironmentConfig, NppVectorEnv
from npp_env.evaluation.baselines import PathPolicy, RandomPolicy, RowChance, baseline_policy
from npp_env.evaluation.policy import FunctionPolicy, Policy, PolicyError, checked_actions, import_policy, policy_of

ALL = np.ones((4, 6), np.uint8)


def play(policy: Policy, level: str, num_envs: int = 8, steps: int = 500) -> list[int]:
    """Outcomes of the first episodes of rows on one level; -1 where one goes on."""
    env = NppVectorEnv(num_envs, policy.config, levels=level, max_episode_frames=None)
    observations, _ = env.reset(seed=0)
    policy.begin(num_envs, 3)
    outcomes = np.full(num_envs, -1)
    for _ in range(steps):
        masks = env.action_masks().astype(np.uint8)
        observations, _, ended, _, info = env.step(policy.act(observations, masks))
        outcomes = np.where((outcomes < 0) & ended, info["outcome"], outcomes)
    return outcomes.tolist()


def test_random_actions_are_uniform_over_what_the_mask_allows():
    policy = RandomPolicy()
    masks = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 0]], np.uint8)
    policy.begin(4, seed=5)
    drawn = np.array([policy.act({}, masks) for _ in range(6000)])
    shares = np.array([[(drawn[:, row] == action).mean() for action in range(6)] for row in range(4)])
    assert (shares[masks == 0] == 0).all()
    expected = masks / masks.sum(axis=1, keepdims=True)
    assert np.abs(shares - expected).max() < 0.03


def test_rows_draw_by_themselves_and_seeds_repeat():
    chance, wider = RowChance(3, 11), RowChance(50, 11)
    few, many = np.array([chance.shares() for _ in range(200)]), np.array([wider.shares() for _ in range(200)])
    assert (few == many[:, :3]).all()
    assert few.min() >= 0
    assert few.max() < 1
    assert np.abs(np.corrcoef(many.T) - np.eye(50)).max() < 0.35
    assert not (few == np.array([RowChance(3, 12).shares() for _ in range(200)])).any()


def test_the_path_leads_through_the_first_level_and_chance_does_not():
    assert play(PathPolicy(), "shipped:first_steps/walk") == [1] * 8
    assert play(RandomPolicy(), "shipped:first_steps/walk", steps=60).count(1) < 4


def test_equal_seeds_play_equally():
    level = "shipped:mines/ring"
    assert play(PathPolicy(), level) == play(PathPolicy(), level)


@pytest.mark.parametrize("name", ["random", "path"])
def test_baselines_are_policies(name):
    policy = baseline_policy(name)
    assert isinstance(policy, Policy)
    assert policy.config.reward.shaping_weight == 0


def test_functions_become_policies():
    plain = policy_of(lambda observations, masks: np.full(len(masks), 2), "plain")
    assert plain.deterministic
    assert plain.config == EnvironmentConfig.for_evaluation()
    assert plain.act({}, ALL).tolist() == [2, 2, 2, 2]

    def chancy(observations, masks, random):
        return random.integers(6, size=len(masks))

    chancy.config = {"frame_skip": 1}
    policy = policy_of(chancy, "chancy")
    assert not policy.deterministic
    assert policy.config.frame_skip == 1
    policy.begin(4, 7)
    first = [policy.act({}, ALL).tolist() for _ in range(20)]
    policy.begin(4, 7)
    assert first == [policy.act({}, ALL).tolist() for _ in range(20)]
    assert policy_of(RandomPolicy, "a class").act({}, ALL[:1]).shape == (1,)


def test_a_function_of_the_present_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "my_agent_for_test.py").write_text(
        "import numpy as np\n\ndef act(observations, masks):\n    return np.zeros(len(masks), int)\n\nbroken = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert import_policy("my_agent_for_test:act").act({}, ALL).tolist() == [0, 0, 0, 0]
    with pytest.raises(PolicyError, match="must be a function"):
        import_policy("my_agent_for_test:broken")
    with pytest.raises(PolicyError, match="has no nothing"):
        import_policy("my_agent_for_test:nothing")


@pytest.mark.parametrize("text", ["", ":", "no_such_module_here:x", "module", "os:"])
def test_what_is_no_policy_is_refused(text):
    with pytest.raises(PolicyError):
        import_policy(text)


def test_a_module_that_fails_is_named(tmp_path, monkeypatch):
    (tmp_path / "fails_at_import.py").write_text("1 / 0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(PolicyError, match="ZeroDivisionError"):
        import_policy("fails_at_import:x")


def test_half_a_policy_is_refused():
    class Half:
        def act(self, observations, masks):
            return np.zeros(len(masks))

    with pytest.raises(PolicyError, match="lacks config, deterministic, begin, restart"):
        policy_of(Half, "Half")
    with pytest.raises(PolicyError, match="no baseline"):
        baseline_policy("wander")


@pytest.mark.parametrize(
    "actions", [None, "up", [0, 1], np.zeros((4, 1)), [0, 1, 2, 6], [0, 0, 0, -1], [0.5] * 4, [np.nan] * 4, ["a"] * 4]
)
def test_what_are_no_actions_is_refused(actions):
    with pytest.raises(PolicyError):
        checked_actions(actions, 4)
    with pytest.raises(PolicyError):
        FunctionPolicy(lambda observations, masks: actions).act({}, ALL)
