"""The worker that makes levels ahead: it always ends, and nothing that befalls it changes an episode."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
from numpy.testing import assert_array_equal

from npp_env import NppEnv
from npp_env.runtime import worker_process
from runtime.ahead_play import NEEDS_WORKER, PATIENCE_SECONDS, begun, customer_of, is_gone, make, play, worker_pid

pytestmark = NEEDS_WORKER


def test_a_worker_that_is_killed_changes_nothing(without, caplog):
    env = make()
    env.reset(seed=3)
    digest = [play(env, 20)]
    pid = worker_pid(env)
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
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
