"""One call at a time: who comes while another call is under way gets an error, and changes nothing."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from sim.rooms import room

import npp_env
from npp_env.errors import NppError
from npp_env.level.level_set import LevelSet
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.sim import Simulation
from npp_env.sim.turn import Turn

LEVELS = [room((3, 150, 77), (4, 100 + k, 77)) for k in range(3)]
PATIENCE_S = 60


class Gate:
    """Holds a call up in the middle until it is told to go on."""

    def __init__(self) -> None:
        self.closed = False
        self.reached, self.opened = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        if self.closed:
            self.closed = False
            self.reached.set()
            assert self.opened.wait(PATIENCE_S)

    def hold_up(self, call) -> threading.Thread:
        """Begin a call in a thread; returns when it is held up."""
        self.closed = True
        self.reached.clear()
        self.opened.clear()
        thread = threading.Thread(target=call)
        thread.start()
        assert self.reached.wait(PATIENCE_S)
        return thread

    def refuse_meanwhile(self, thread: threading.Thread, *calls) -> None:
        """While the thread is held up no other call gets through; then it may go on."""
        for call in calls:
            with pytest.raises(NppError, match="in use by another call"):
                call()
        self.opened.set()
        thread.join(PATIENCE_S)


def calls_of(env, saved) -> list:
    """What the single and the vector environment have in common."""
    return [
        env.reset,
        env.get_state,
        lambda: env.set_state(saved),
        env.render,
        env.action_masks,
        env.memory_report,
        env.close,
    ]


def held_up_levels(gate):
    """An endless set of levels; whoever has one made waits at the gate."""

    def make(index):
        gate.pass_through()
        return LEVELS[index % 3]

    return LevelSet(make)


def test_a_vector_environment():
    gate = Gate()

    def choose(environment, episode, random, count):
        gate.pass_through()
        return (environment + episode) % count

    env = npp_env.NppVectorEnv(8, levels=LEVELS, sampling=choose, render_mode="rgb_array", num_threads=2)
    env.reset(seed=0)
    saved = env.get_state()
    env._engine.ended[3] = 1
    actions = np.full(8, 2)
    results = []
    thread = gate.hold_up(lambda: results.append(env.step(actions)))
    masked = {"reset_mask": np.ones(8, bool)}
    gate.refuse_meanwhile(thread, lambda: env.step(actions), lambda: env.reset(options=masked), *calls_of(env, saved))
    assert len(results) == 1
    assert not env.closed
    twin = npp_env.NppVectorEnv(8, levels=LEVELS, sampling=choose)
    twin.reset(seed=0)
    twin._engine.ended[3] = 1
    np.testing.assert_array_equal(results[0][1], twin.step(actions)[1])
    assert env.get_state() == twin.get_state()


def test_a_single_environment():
    gate = Gate()
    env = npp_env.NppEnv(levels=held_up_levels(gate), render_mode="rgb_array")
    env.reset(seed=0)
    saved = env.get_state()
    thread = gate.hold_up(lambda: env.reset(seed=1))
    gate.refuse_meanwhile(thread, lambda: env.step(0), *calls_of(env, saved))
    env.step(2)


def test_a_decoder():
    gate = Gate()
    levels = held_up_levels(gate)
    env = npp_env.NppVectorEnv(4, levels=levels, observation={"layout": "state"})
    states, _ = env.reset(seed=0)
    decoder = ObservationDecoder(env.config, levels)
    results = []
    levels._loaded.clear()
    thread = gate.hold_up(lambda: results.append(decoder.decode(states)))
    gate.refuse_meanwhile(thread, lambda: decoder.decode(states), decoder.close)
    for key, array in decoder.decode(states).items():
        np.testing.assert_array_equal(array, results[0][key])


@pytest.mark.parametrize("name", ["advance", "reset", "get_state", "set_state"])
def test_a_simulation(name):
    simulation = Simulation(LEVELS[0])
    saved = simulation.get_state()
    calls = {
        "advance": lambda: simulation.advance(0),
        "reset": simulation.reset,
        "get_state": simulation.get_state,
        "set_state": lambda: simulation.set_state(saved),
    }
    refused = threading.Event()

    def attempt(call):
        try:
            call()
        except NppError as error:
            assert "in use" in str(error)  # noqa: PT017
            refused.set()

    # A million ticks take a while; whoever comes second is refused.
    long = threading.Thread(target=attempt, args=(lambda: simulation.advance(2, 1_000_000, stop=False),))
    long.start()
    while long.is_alive() and not refused.is_set():
        attempt(calls[name])
    long.join(PATIENCE_S)
    assert refused.is_set()
    simulation.set_state(saved)
    assert simulation.get_state() == saved


def test_many_threads_at_one_environment():
    """Without any order: every call succeeds or is refused, and the environment stays whole."""
    env = npp_env.NppVectorEnv(48, levels=LEVELS, num_threads=2, max_episode_frames=60)
    env.reset(seed=0)
    saved = env.get_state()
    done = {"played": 0, "refused": 0}
    until = time.monotonic() + 1.5

    def use(seed):
        rng = np.random.default_rng(seed)
        calls = [lambda: env.step(rng.integers(0, 6, 48))] * 5 + [env.reset, env.get_state]
        calls += [lambda: env.set_state(saved), lambda: env.reset(seed=3)]
        while time.monotonic() < until:
            try:
                calls[rng.integers(len(calls))]()
                done["played"] += 1
            except NppError as error:
                assert "in use" in str(error)  # noqa: PT017
                done["refused"] += 1

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert done["played"] > 0
    twin = npp_env.NppVectorEnv(48, levels=LEVELS, max_episode_frames=60)
    twin.reset(seed=3)
    env.reset(seed=3)
    for _ in range(20):
        np.testing.assert_array_equal(env.step(np.full(48, 2))[1], twin.step(np.full(48, 2))[1])


def test_calls_within_a_call_are_refused():
    turn = Turn("this", "begin anew")
    with pytest.raises(NppError, match="this is in use"):
        turn.run(turn.run, len, "abc")
    assert turn.run(len, "abc") == 3
    with pytest.raises(ZeroDivisionError):
        turn.run(lambda: 1 / 0)
    turn.torn = True
    with pytest.raises(NppError, match="cut off in the middle; begin anew"):
        turn.run(len, "abc")
    assert turn.renew(len, "abc") == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_in_the_middle_of_a_call():
    """In the child nobody will ever complete it: the environment wants a reset, and then works."""
    gate = Gate()
    env = npp_env.NppVectorEnv(8, levels=held_up_levels(gate))
    env.reset(seed=0)
    thread = gate.hold_up(lambda: env.reset(seed=1))
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE_S)
        code = 1
        try:
            for call in (lambda: env.step(np.zeros(8, int)), env.get_state):
                with pytest.raises(NppError, match=r"cut off in the middle; call reset\(\)"):
                    call()
            with pytest.raises(NppError, match="without a mask"):
                env.reset(options={"reset_mask": np.arange(8) == 1})
            env.reset(seed=1)
            env.step(np.zeros(8, int))
            code = 0
        finally:
            os._exit(code)
    gate.opened.set()
    thread.join(PATIENCE_S)
    assert os.waitpid(child, 0)[1] == 0
    env.step(np.zeros(8, int))
