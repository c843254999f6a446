"""Levels of endless sets, made ahead by a worker: the same episodes as without it."""

from __future__ import annotations

import copy
import gc
import mmap
import os
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from npp_env import EnvironmentConfig, NppEnv
from npp_env.level.cache import LevelCache, default_cache
from npp_env.level.generate import FAMILIES, GeneratedLevels
from npp_env.level.level_set import LevelSet
from npp_env.runtime.level_parcel import Parcel, Shelf, write_parcel
from npp_env.runtime.level_resources import cache_of_one, load_resources
from npp_env.runtime.sampling import UniformSampling
from runtime.ahead_play import NEEDS_WORKER, begun, catch_up, customer_of, is_gone, make, play, worker_pid

pytestmark = NEEDS_WORKER


@pytest.mark.parametrize("wait", [True, False])
def test_episodes_are_the_same(without, wait):
    env = make()
    env.reset(seed=3)
    assert play(env, 40, wait) == without
    env.close()


@pytest.mark.parametrize("options", [{"ahead": 2}, {"num_threads": 2}])
def test_neither_room_nor_threads_matter(without, options):
    env = make(**options)
    env.reset(seed=3)
    assert play(env, 40) == without
    env.close()


def test_the_worker_makes_the_levels(monkeypatch):
    env = begun()
    made_here = []
    make_one = GeneratedLevels.__call__
    monkeypatch.setattr(GeneratedLevels, "__call__", lambda self, k: made_here.append(k) or make_one(self, k))
    play(env, 30)
    assert not made_here
    assert len(customer_of(env).asked) == 12
    env.close()


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_parcels_hold_what_is_computed_here(family):
    config = EnvironmentConfig.for_visual_testing(levels=f"generated:{family}")
    level = LevelSet.parse(config.levels)[5]
    shelf = Shelf(3)
    slot = shelf.slot()
    found = load_resources(config, 77, level, 5, cache_of_one()).prepared()
    with open(os.dup(shelf.descriptor), "r+b") as file:
        assert write_parcel(found, mmap.mmap(file.fileno(), 0), slot.number)
    item = Parcel(slot).resources(5)
    assert (item.index, item.gold, item.limit_frames, item.types) == (5, found.gold, found.limit_frames, found.types)
    assert item.level == level
    assert (item.level.name, item.level.metadata) == (level.name, level.metadata)
    assert_array_equal(item.background, found.background)
    mine, theirs = found.origin.cache.arrays(), item.origin.cache.arrays()
    assert list(mine) == list(theirs)
    for key in mine:
        assert_array_equal(mine[key], theirs[key])
    del item, theirs, slot
    gc.collect()
    assert sorted(shelf.free) == [0, 1, 2]


def test_slots_come_back():
    env = begun()
    shelf = customer_of(env).shelf
    slots = 6 * 6 + 16
    play(env, 9 * slots // 6)
    assert shelf.free
    env.close()
    del env
    gc.collect()
    assert sorted(shelf.free) == list(range(slots))


def test_states_are_restored_exactly():
    env = begun()
    states = env.get_state()
    expected = play(env, 30)
    env.set_state(states)
    assert play(env, 30) == expected
    env.close()
    other = make(ahead=0)
    other.reset(seed=99)
    other.set_state(states)
    assert play(other, 30, wait=False) == expected


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike(copied):
    env = begun()
    other = copied(env)
    assert play(other, 30) == play(env, 30)
    env.close()
    other.close()


def test_environments_with_the_same_seed_share_levels():
    env = make()
    env.reset(seed=[4] * 6)
    play(env, 30)
    assert len(customer_of(env).asked) < 12
    env.close()


def test_one_worker_serves_all_environments_of_a_process():
    first, second = begun(), begun(seed=8)
    pid = worker_pid(first)
    assert worker_pid(second) == pid
    first.close()
    play(second, 20)
    second.close()
    assert is_gone(pid, 5)


def test_single_environments_have_their_next_level_made():
    env = NppEnv(levels="generated:towers")
    env.reset(seed=1)
    assert env._episodes.ahead._customer is None
    env.reset()
    catch_up(env)
    env.reset()
    pid = worker_pid(env)
    env.close()
    assert is_gone(pid, 5)


def test_levels_that_are_played_once_have_no_files(tmp_path):
    folder = default_cache().directory
    before = sorted(folder.rglob("*"))
    env = make(ahead=0)
    env.reset(seed=3)
    play(env, 12, wait=False)
    assert sorted(folder.rglob("*")) == before
    asked_for = make(cache_directory=str(tmp_path))
    asked_for.reset(seed=3)
    assert asked_for._episodes.ahead is None
    assert any(tmp_path.rglob("*"))


def test_only_what_can_be_foreseen_is_asked_for():
    chosen = []

    def choose(environment, episode, bits, count):
        chosen.append((environment, episode))
        return bits % count

    env = make(sampling=choose)
    env.reset(seed=3)
    assert env._episodes.ahead is None
    assert chosen == [(i, 0) for i in range(6)]
    finite = make(levels="generated:any?seeds=0-9")
    assert finite._episodes.ahead is None


def test_mirrored_sets_are_made_ahead_too(monkeypatch):
    env = begun(levels="mirrored:generated:caverns")
    monkeypatch.setattr(GeneratedLevels, "__call__", lambda self, k: pytest.fail("made here"))
    play(env, 10)
    env.close()


def test_the_report_counts_what_is_ready():
    env = begun()
    catch_up(env)
    customer = customer_of(env)
    assert len(customer.news) > 0
    # What was unpacked already counts as a level that is kept.
    ready = [holding.bytes for holding in env.memory_report().holdings if holding.name == "made ahead"]
    assert ready == [sum(customer.made[number] for number in customer.news)]
    assert 50_000 < ready[0] / len(customer.news) < 1_000_000
    env.close()


def test_caches_exchange_arrays():
    level = LevelSet.parse("generated:towers")[1]
    first, second = LevelCache(persist=False), LevelCache(persist=False)
    config = EnvironmentConfig(levels="generated:towers")
    load_resources(config, None, level, 1, first).prepared()
    second.hold(first.arrays())
    load_resources(config, None, level, 1, second).prepared()
    assert {use.builds for use in second.report().values()} == {0}
    assert all(second.arrays()[key] is array for key, array in first.arrays().items())


def test_two_levels_are_made_ahead_where_there_is_room_for_them():
    for ahead, expected in ((12, 12), (11, 6), (4, 4)):
        env = begun(ahead=ahead)
        assert len(customer_of(env).asked) == expected
        env.close()


def test_levels_that_were_left_go_while_those_to_come_stay(monkeypatch):
    env = begun()
    episodes = env._episodes
    play(env, 120)
    catch_up(env)
    assert len(episodes.ahead.left) == 16
    assert not set(episodes.ahead.left) & set(episodes._resources)
    in_use = {item.index for item in episodes.engine.in_use}
    coming = {number for numbers in episodes.ahead._next.values() for number in numbers}
    # Number 0 said how large a state is.
    assert set(episodes._resources) <= in_use | coming | set(episodes.ahead._playing.values()) | {0}
    # A state of the level that was left last needs nothing made.
    left = next(reversed(episodes.ahead.left))
    monkeypatch.setattr(GeneratedLevels, "__call__", None)
    assert episodes.resources(left) is episodes.ahead.left[left]
    env.close()


def test_the_engine_knows_who_has_begun():
    env = make(ahead=0)
    engine = env._episodes.engine
    env.reset(seed=3)
    assert engine.n_begun == 6
    assert engine.take_begun() == [0, 1, 2, 3, 4, 5]
    assert (engine.n_begun, engine.take_begun()) == (0, [])
    env.reset(options={"reset_mask": np.array([False, True, False, False, True, False])})
    assert engine.n_begun == 2
    slots = env._engine.slots
    drawn = [UniformSampling().choose(i, int(slots[i]["key"]), int(slots[i]["episode"]) + 2, 1000) for i in (4, 1)]
    assert engine.draw([4, 1], 2, 1000) == drawn
    with pytest.raises(IndexError):
        engine.draw([6], 1, 1000)
    assert engine.take_begun() == [1, 4]
