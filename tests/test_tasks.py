"""The environment ids that name their levels."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import npp_env
from npp_env.level.level_set import LevelSet
from npp_env.level.tasks import task_levels

LEVELS = Path(__file__).parent.parent / "levels"
TASKS = sorted(name for name in gym.registry if name.startswith("Npp-") and name != "Npp-v0")
GENERATED = [f"Npp-Generated-{name}{end}-v0" for name in ("Easy", "Medium", "Hard") for end in ("", "-Test")]


def test_every_group_has_a_task():
    groups = [folder.name for folder in LEVELS.iterdir() if folder.is_dir()]
    assert len(groups) >= 13
    expected = [f"Npp-{re.sub('_', '', group.title())}-v0" for group in groups]
    assert sorted([*expected, "Npp-All-v0", *GENERATED]) == TASKS


@pytest.mark.parametrize("task", TASKS)
def test_every_task_plays_its_levels(task):
    env = gym.make(f"npp_env:{task}")
    env.reset(seed=0)
    env.step(2)
    group = env.unwrapped.level.metadata["group"]
    levels = task_levels()[task]
    if levels.startswith("shipped:"):
        assert levels == f"shipped:{group}"
        assert env.unwrapped.num_levels == len(list((LEVELS / group).glob("*.txt")))
    envs = gym.make_vec(f"npp_env:{task}", num_envs=2)
    envs.reset(seed=0)
    envs.step([2, 2])


def test_gymnasiums_own_check_of_a_task(recwarn):
    check_env(gym.make("npp_env:Npp-Generated-Easy-v0", sampling="success").unwrapped, skip_render_check=True)
    assert not [w for w in recwarn if "npp" in str(w.message).lower()]


@pytest.mark.parametrize("name", ["Easy", "Medium", "Hard"])
def test_an_agent_is_judged_on_seeds_that_it_cannot_have_seen(name):
    train = LevelSet.parse(task_levels()[f"Npp-Generated-{name}-v0"])
    test = LevelSet.parse(task_levels()[f"Npp-Generated-{name}-Test-v0"])
    assert len(train) == 1000
    assert not test.is_finite
    assert {train[0].metadata["seed"], train[999].metadata["seed"], test[0].metadata["seed"]} == {"0", "999", "100000"}
    assert train[0].metadata["difficulty"] == test[0].metadata["difficulty"]
    assert {test[k].metadata["group"] for k in range(7)} == {train[k].metadata["group"] for k in range(7)}


def test_registering_twice_changes_nothing():
    before = dict(gym.registry)
    npp_env.register_environments()
    assert dict(gym.registry) == before


def test_the_documentation_has_a_picture_for_every_task(monkeypatch):
    pages = importlib.util.spec_from_file_location("site_pages", LEVELS.parent / "docs" / "site_pages.py")
    site_pages = importlib.util.module_from_spec(pages)
    pages.loader.exec_module(site_pages)
    # What the solver finds takes too long for a test.
    monkeypatch.setattr(site_pages, "solved", lambda levels: (levels.name_of(0), None))
    found = {task: (name, recording) for task, name, recording in site_pages.task_recordings()}
    assert sorted(found) == TASKS
    for task, (name, recording) in found.items():
        if recording is not None:
            assert recording.outcome == "won"
            assert task_levels()[task] in ("shipped", f"shipped:{name.partition('/')[0]}")
