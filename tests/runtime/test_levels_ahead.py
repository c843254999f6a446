"""Levels of endless sets, made ahead by a worker: the same episodes as without it, and a worker that always ends."""

from __future__ import annotations

import copy
import gc
import hashlib
import mmap
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from npp_env import EnvironmentConfig, NppEnv, NppVectorEnv
from npp_env.level.cache import LevelCache, default_cache
from npp_env.level.generate import FAMILIES, GeneratedLevels
from npp_env.level.level_set import LevelSet
from npp_env.runtime import worker_process
from npp_env.runtime.level_parcel import Parcel, Shelf, write_parcel
from npp_env.runtime.level_resources import cache_of_one, load_resources

pytestmark = pytest.mark.skipif(not worker_process.can_work_beside(), reason="no worker on this platform")

KEYS = ("game_state", "entity_states", "reachability_features", "graph_node_feats", "global_view", "action_mask")
PATIENCE_SECONDS = 120


@pytest.fixture(autouse=True)
def unharmed(monkeypatch):
    """A worker that a test kills does not keep other tests from having one."""
    monkeypatch.setattr(worker_process, "_failed", False)


def make(count=6, ahead=128, **options):
    observation = {"keys": KEYS}
    return NppVectorEnv(
        count,
        max_episode_steps=8,
        **{"levels": "generated:any", "levels_ahead": ahead, "observation": observation, **options},
    )


def play(env, steps=40, wait=True):
    """Digest of all that some steps give; with `wait` the worker has always done its work before."""
    digest = hashlib.sha256()
    actions = np.random.default_rng(7).integers(0, 6, (steps, env.num_envs))
    for row in actions:
        if wait:
            catch_up(env)
        observations, rewards, _, _, info = env.step(row)
        for value in (*observations.values(), rewards, info["level"], info["frame"]):
            digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def customer_of(env):
    return env._episodes.ahead._customer


def catch_up(env):
    """Wait until all levels that were asked for are there."""
    until = time.monotonic() + PATIENCE_SECONDS
    customer = customer_of(env)
    while customer is not None and len(customer.made) < len(customer.asked) and env._episodes.ahead._worker.alive:
        assert time.monotonic() < until, "the worker does not come to an end"
        env._episodes.ahead._worker.receive()
        time.sleep(0.01)


def worker_pid(env):
    return env._episodes.ahead._worker.pid


def is_gone(pid, seconds=PATIENCE_SECONDS):
    """Whether a process ends in some time, and is no zombie."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def begun(seed=3, **options):
    """An environment whose worker is running."""
    env = make(**options)
    env.reset(seed=seed)
    play(env, 12)
    assert customer_of(env) is not None
    return env


@pytest.fixture(scope="module")
def without():
    env = make(ahead=0)
    env.reset(seed=3)
    return play(env, 40, wait=False)


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
    assert len(customer_of(env).asked) == 6
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
    slots = 4 * 6 + 16
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
    assert len(customer_of(env).asked) < 6
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


def test_a_worker_that_is_killed_changes_nothing(without, caplog):
    env = make()
    env.reset(seed=3)
    digest = [play(env, 20)]
    pid = worker_pid(env)
    os.kill(pid, signal.SIGKILL)
    digest.append(play(env, 20, wait=False))
    env.close()
    assert is_gone(pid, 5)
    assert "has ended" in caplog.text
    again = make(ahead=0)
    again.reset(seed=3)
    assert digest == [play(again, 20, wait=False), play(again, 20, wait=False)]


def test_a_shelf_that_finds_no_room_changes_nothing(without, monkeypatch, caplog):
    def refuse(slots):
        raise OSError("no room")

    monkeypatch.setattr(worker_process, "Shelf", refuse)
    env = make()
    env.reset(seed=3)
    assert play(env, 40, wait=False) == without
    assert "no room" in caplog.text
    assert worker_process.shared_worker() is None


def test_garbage_takes_its_worker_along():
    env = begun()
    pid = worker_pid(env)
    del env
    gc.collect()
    assert is_gone(pid, 5)


def test_what_was_closed_can_go_on():
    env = NppEnv(levels="generated:towers")
    env.reset(seed=1)
    env.reset()
    env.close()
    env.close()
    observation, info = env.reset()
    other = NppEnv(levels="generated:towers", levels_ahead=0)
    for seed in (1, None, None):
        expected, its_info = other.reset(seed=seed)
    assert info["level"] == its_info["level"]
    for key in expected:
        assert_array_equal(observation[key], expected[key])
    env.close()


def test_interrupts_of_a_terminal_do_not_reach_it():
    env = begun()
    assert os.getsid(worker_pid(env)) != os.getsid(0)
    env.close()


SCRIPT = """
import sys, time
import numpy as np
from npp_env import NppVectorEnv
env = NppVectorEnv(4, levels="generated:any", max_episode_steps=4)
env.reset(seed=0)
for _ in range(12):
    env.step(np.zeros(4, np.int64))
print(env._episodes.ahead._worker.pid, flush=True)
{rest}
"""


@pytest.mark.parametrize("rest", ["", "raise SystemExit(3)", "import os; os._exit(0)", "env = None"])
def test_it_ends_with_the_interpreter(rest):
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(rest=rest)], capture_output=True, text=True, check=False
    )
    assert is_gone(int(found.stdout)), found.stderr
    assert not found.stderr


@pytest.mark.parametrize("fork", [False, True])
def test_it_ends_with_a_parent_that_is_killed(fork):
    # A forked child of the parent keeps the connection open.
    rest = ("import os\nif os.fork() == 0: time.sleep(30); os._exit(0)\n" if fork else "") + "time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(rest=rest)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        pid = int(parent.stdout.readline())
        time.sleep(0.5)
        parent.kill()
        parent.wait()
        assert is_gone(pid)
        if fork:
            os.killpg(parent.pid, signal.SIGKILL)


def test_a_forked_child_goes_on_and_so_does_its_parent():
    env = begun()
    pid = worker_pid(env)
    states = env.get_state()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, play(env, 20, wait=False).encode())
        finally:
            os._exit(0)
    frozen = customer_of(env).shelf
    expected = play(env, 20)
    assert frozen.frozen
    assert worker_pid(env) == pid
    assert customer_of(env).shelf is not frozen
    assert os.read(reading, 100).decode() == expected
    os.waitpid(child, 0)
    for end in (reading, writing):
        os.close(end)
    env.set_state(states)
    assert play(env, 20) == expected
    env.close()


def in_a_daemon(queue):
    env = NppEnv(levels="generated:towers")
    env.reset(seed=1)
    numbers = [env.reset()[1]["level"] for _ in range(3)]
    queue.put((numbers, env._episodes.ahead._customer is None))


def test_daemonic_processes_make_levels_themselves():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=in_a_daemon, args=(queue,), daemon=True)
    process.start()
    numbers, alone = queue.get(timeout=PATIENCE_SECONDS)
    process.join()
    env = NppEnv(levels="generated:towers", levels_ahead=0)
    env.reset(seed=1)
    assert numbers == [env.reset()[1]["level"] for _ in range(3)]
    assert alone


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
