"""The threads inside the compiled code: same results whatever their number, under forks, at exit, many at once."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from play import held_actions
from sim.rooms import room

import npp_env
from npp_env.errors import NppError
from npp_env.planning.solver import SolveBudget, solve
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.runtime.batch_work import advance_batch
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim import Batch, LevelHandle, compile_level
from npp_env.sim.structs import NINJA

PATIENCE_S = 60
DOORS = room((6, 60, 78, 0), (7, 30, 78), (3, 150, 77), (4, 110, 77))
WIDE = room((3, 150, 77), (4, 100, 77), *[(1, 40 + k, 20) for k in range(30)])
LEVELS = [DOORS, WIDE, room((3, 60, 77), (4, 40, 77), (1, 80, 77))]
ARGUMENTS = {"levels": LEVELS, "preset": "training", "max_episode_frames": 100}


def digest_of_play(num_envs, threads, steps=40, seed=0, **changes):
    """Everything that steps return, as one hash."""
    env = npp_env.NppVectorEnv(num_envs, num_threads=threads, **{**ARGUMENTS, **changes})
    digest = hashlib.sha256()

    def add(item):
        if isinstance(item, dict):
            for key in sorted(item):
                add(item[key])
        elif isinstance(item, np.ndarray) and item.dtype != object:
            digest.update(np.ascontiguousarray(item).tobytes())

    add(env.reset(seed=seed)[0])
    for actions in held_actions(np.random.default_rng(seed), steps, num_envs):
        for part in env.step(actions):
            add(part)
    for state in env.get_state():
        digest.update(state)
    env.close()
    return digest.hexdigest()


@pytest.mark.parametrize("num_envs", [1, 31, 32, 33, 100, 257])
def test_results_do_not_depend_on_the_number_of_threads(num_envs):
    digests = {digest_of_play(num_envs, threads) for threads in (1, 2, 3, 5, 8, 17)}
    assert len(digests) == 1


def test_every_item_is_worked_on_once():
    handle = LevelHandle(compile_level(WIDE))
    for count in (1, 15, 16, 32, 33, 1000):
        for threads in (1, 2, 7):
            batch, pool = Batch(count + 3, handle.state_bytes), ThreadPool(threads)
            for i in range(count + 3):
                batch.set_level(i, handle)
            for _ in range(20):
                advance_batch(batch, pool, np.full(count + 3, 2, np.uint8), count, 1, True)
            frames = batch.states[:, : NINJA.itemsize].copy().view(NINJA)[:, 0]["frame"]
            assert frames.tolist() == [20] * count + [0] * 3


COUNTS = """
import gc
import numpy as np
import npp_env
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.planning.solver import SolveBudget, solve
from npp_env.runtime.thread_pool import threads_started
from npp_env.level.shipped import load_shipped
counts = [threads_started()]
config = {"levels": "shipped:first_steps", "observation": {"layout": "state"}}
one, two = (npp_env.NppVectorEnv(64, config, num_threads=3) for _ in range(2))
for env in (one, two):
    states, _ = env.reset(seed=0)
    env.step(np.zeros(64, int))
decoder = ObservationDecoder(config, num_threads=3)
decoder.decode(states)
solve(load_shipped("first_steps/walk"), threads=3, budget=SolveBudget(shorten_ticks=0))
counts.append(threads_started())
one.close()
decoder.close()
counts.append(threads_started())
two.close()
counts.append(threads_started())
# A closed one starts them again; one that is forgotten lets go of them.
two.step(np.zeros(64, int))
counts.append(threads_started())
del env, two
gc.collect()
counts.append(threads_started())
print(counts)
"""


def test_all_share_the_threads_and_the_last_one_ends_them():
    done = subprocess.run([sys.executable, "-c", COUNTS], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stdout == "[0, 2, 2, 0, 2, 0]\n", done.stderr


def test_a_number_of_threads():
    for wrong in (0, -1):
        with pytest.raises(NppError, match="num_threads"):
            ThreadPool(wrong)


def test_decoder_and_solver():
    env = npp_env.NppVectorEnv(100, levels=LEVELS, observation={"layout": "state"})
    states = np.concatenate([env.reset(seed=0)[0], env.step(np.zeros(100, int))[0]])
    expected = ObservationDecoder(env.config, LEVELS).decode(states)
    budget = SolveBudget(shorten_ticks=0)
    inputs = solve(LEVELS[2], budget=budget).recording.inputs
    for threads in (2, 3, 8):
        decoded = ObservationDecoder(env.config, LEVELS, num_threads=threads).decode(states)
        for key, array in decoded.items():
            np.testing.assert_array_equal(array, expected[key])
        np.testing.assert_array_equal(solve(LEVELS[2], budget=budget, threads=threads).recording.inputs, inputs)


def test_several_environments_in_several_threads():
    expected = {seed: digest_of_play(40 + seed, 1, seed=seed) for seed in range(4)}
    together = {}

    def play(seed):
        together[seed] = digest_of_play(40 + seed, 2 + seed % 2, seed=seed)

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert together == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forks_in_the_middle_of_steps():
    """Other threads step while this one forks; each child uses its own environment, theirs, and this one's."""
    expected = digest_of_play(64, 2, steps=5)
    mine = npp_env.NppVectorEnv(64, num_threads=2, **ARGUMENTS)
    mine.reset(seed=0)
    saved = mine.get_state()
    rewards = mine.step(np.full(64, 2))[1].tolist()
    mine.set_state(saved)
    theirs = [npp_env.NppVectorEnv(64, num_threads=3, **ARGUMENTS) for _ in range(2)]
    ending = threading.Event()

    def play(env):
        env.reset(seed=1)
        while not ending.is_set():
            env.step(np.full(64, 5))

    def use_all():
        assert mine.step(np.full(64, 2))[1].tolist() == rewards
        assert digest_of_play(64, 2, steps=5) == expected
        for env in theirs:
            try:
                env.step(np.full(64, 5))
            except NppError as error:
                assert "reset()" in str(error)  # noqa: PT017
            env.reset(seed=0)
            env.set_state(saved)
            assert env.step(np.full(64, 2))[1].tolist() == rewards

    threads = [threading.Thread(target=play, args=(env,)) for env in theirs]
    for thread in threads:
        thread.start()
    codes = []
    for _ in range(25):
        child = os.fork()
        if child == 0:
            signal.alarm(PATIENCE_S)
            code = 1
            try:
                use_all()
                code = 0
            finally:
                os._exit(code)
        codes.append(os.waitpid(child, 0)[1])
    ending.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert codes == [0] * 25
    use_all()


EXIT = """
import sys, threading, time
import numpy as np
import npp_env
env = npp_env.NppVectorEnv(256, num_threads=3, levels="shipped:first_steps", preset="training")
env.reset(seed=0)
steps = [0]
def play():
    while True:
        env.step(np.full(256, 5))
        steps[0] += 1
threading.Thread(target=play, daemon=True).start()
while steps[0] < 5:
    time.sleep(0.001)
time.sleep(float(sys.argv[1]))
print("bye")
"""


@pytest.mark.parametrize("wait", [0.0, 0.0003, 0.002, 0.01])
def test_exit_while_a_daemon_thread_steps(wait):
    command = [sys.executable, "-c", EXIT, str(wait)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "bye\n", "")


def test_results_are_nobodys_but_the_holders():
    env = npp_env.NppVectorEnv(40, **ARGUMENTS)
    env.reset(seed=0)
    kept, copies = [], []
    for step, actions in enumerate(held_actions(np.random.default_rng(0), 60, 40)):
        _, rewards, terminated, truncated, info = env.step(actions)
        # Some are held whole, some as a view of a view, some as memory only, and some not at all.
        held = [[rewards, info], [truncated[3:][::2]], [memoryview(info["frame"])], [terminated], []][step % 5]
        kept.append(held)
        copies.append([{k: v.copy() for k, v in h.items()} if isinstance(h, dict) else np.array(h) for h in held])
    for held, copied in zip(kept, copies, strict=True):
        for one, other in zip(held, copied, strict=True):
            for key in other if isinstance(other, dict) else [None]:
                now, then = (one, other) if key is None else (one[key], other[key])
                np.testing.assert_array_equal(np.asarray(now), then)


def test_results_may_be_changed_by_who_has_them():
    env, twin = (npp_env.NppVectorEnv(40, **ARGUMENTS) for _ in range(2))
    env.reset(seed=0)
    twin.reset(seed=0)
    for actions in held_actions(np.random.default_rng(0), 30, 40):
        mine, theirs = env.step(actions), twin.step(actions)
        for key, array in theirs[4].items():
            np.testing.assert_array_equal(mine[4][key], array, err_msg=key)
        np.testing.assert_array_equal(mine[1], theirs[1])
        mine[1].fill(np.nan)
        mine[1].shape = (8, 5)
        mine[4]["frame"][:] = -1
        mine[4]["mine"] = 1
        assert "mine" not in twin.step(actions)[4]
        env.step(actions)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_step_with_views_allocates_nothing(threads):
    num_envs = 2048
    env = npp_env.NppVectorEnv(num_envs, levels=[WIDE], copy=False, max_episode_frames=None, num_threads=threads)
    env.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    for _ in range(3):
        kept = env.step(actions)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            kept = env.step(actions)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == 5
    assert after - before < 4096
    # Views and dictionaries, but not one byte for each environment.
    assert peak - before < 8192 < 10 * num_envs
