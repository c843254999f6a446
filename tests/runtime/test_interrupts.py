"""An interrupt at any place leaves an environment before or after the call, or wanting a reset; never hung or wrong.

The compiled parts of a call cannot be interrupted. For all that is Python, an interrupt is raised at one bytecode after
the other, and what the environment does from there on is compared with one that met no interrupt.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from play import held_actions
from sim.rooms import room

import npp_env
from npp_env.errors import NppError
from npp_env.level.level_set import LevelSet
from npp_env.rollouts.decoder import ObservationDecoder

ROOT = Path(__file__).parent.parent.parent
PACKAGE = str(Path(npp_env.__file__).parent)
# Between leaving a `with` block and the release of its lock an exception can be raised here, but no signal arrives.
HOLDS_LOCKS = "cache.py"
NUM_ENVS = 33
TRIES = 120
# Walking right the ninja takes the switch of a door: in that step the distances are looked up anew.
DOORS = room((6, 60, 78, 0), (7, 30, 78), (3, 150, 77), (4, 110, 77))
WIDE_DOORS = room((6, 60, 78, 0), (7, 34, 78), (3, 150, 77), (4, 100, 77), *[(1, 40 + k, 20) for k in range(30)])


class Interruption:
    """Raises KeyboardInterrupt at a bytecode of the package; used up once it did."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> Interruption:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame, event, argument):
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE) or name.endswith(HOLDS_LOCKS):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._trace


def bytecodes_of(call) -> int:
    """How many bytecodes of the package a call takes."""
    counter = Interruption(10**9)
    with counter:
        call()
    return 10**9 - counter.left


def interrupt(call, at: int) -> bool:
    """Call with an interrupt at one bytecode; returns whether it got through."""
    try:
        with Interruption(at):
            call()
    except KeyboardInterrupt:
        return True
    return False


def interrupted_everywhere(call, prepare, tries: int = TRIES):
    """Prepare, call, and interrupt the call, again and again at different bytecodes; yields after each time."""
    for _ in range(2):
        prepare()
        total = bytecodes_of(call)
    for at in np.unique(np.linspace(1, total, tries).astype(int)).tolist():
        prepare()
        assert interrupt(call, at), f"bytecode {at} of {total}"
        yield at


def make_vector(**changes):
    arguments = {"levels": [DOORS, WIDE_DOORS], "max_episode_frames": 300, "copy": False, **changes}
    return npp_env.NppVectorEnv(NUM_ENVS, num_threads=2, **arguments)


def assert_same_step(env, twin, actions):
    for one, other in zip(env.step(actions)[:4], twin.step(actions)[:4], strict=True):
        for key, array in one.items() if isinstance(one, dict) else [(None, one)]:
            np.testing.assert_array_equal(array, other if key is None else other[key], err_msg=str(key))


def assert_goes_on(env, twin, rng):
    """From here on the environment does what one does that was never interrupted."""
    actions = held_actions(rng, 3, NUM_ENVS)
    try:
        # An episode that was begun by an interrupted step spends this one on its beginning.
        env.step(actions[0])
    except NppError as error:
        assert "reset" in str(error)  # noqa: PT017
        env.reset(seed=7)
        twin.reset(seed=7)
    else:
        twin.set_state(env.get_state())
    for row in actions[1:]:
        assert_same_step(env, twin, row)
    assert env.get_state() == twin.get_state()


def prepared(env, steps_to_the_door):
    """All environments are about to take the switch, and some have ended."""
    env.reset(seed=3)
    for _ in range(steps_to_the_door):
        env.step(np.full(NUM_ENVS, 2))
    env._engine.ended[::5] = 1
    return env.get_state()


@pytest.fixture(scope="module")
def steps_to_the_door():
    env = make_vector()
    env.reset(seed=3)
    for steps in range(60):
        if (np.array([env._episodes.doors_taken(i) for i in range(NUM_ENVS)]) > 0).any():
            return steps - 1
        env.step(np.full(NUM_ENVS, 2))
    raise AssertionError("nobody took the switch")


def test_a_step_is_whole_or_not_at_all(steps_to_the_door):
    env, twin = make_vector(), make_vector()
    before = prepared(env, steps_to_the_door)
    right = np.full(NUM_ENVS, 2)
    env.step(right)
    after = env.get_state()
    assert sum(a != b for a, b in zip(before, after, strict=True)) == NUM_ENVS
    rng = np.random.default_rng(0)
    landed = set()
    for _ in interrupted_everywhere(lambda: env.step(right), lambda: env.set_state(before), 3 * TRIES):
        states = env.get_state()
        for i, state in enumerate(states):
            # Every fifth had ended and may have begun its next episode, but not played.
            assert state in (before[i], after[i]) or i % 5 == 0
        landed.add(states == after)
        assert_goes_on(env, twin, rng)
    assert landed == {True, False}


@pytest.mark.parametrize(("mode", "frames"), [("SAME_STEP", 40), ("DISABLED", 300)])
def test_a_step_in_other_modes(mode, frames):
    env, twin = (make_vector(autoreset_mode=mode, max_episode_frames=frames) for _ in range(2))
    rng = np.random.default_rng(1)
    right = np.full(NUM_ENVS, 2)
    env.reset(seed=3)
    for _ in range(9):
        env.step(right)
    before = env.get_state()

    def prepare():
        env.reset(seed=3)
        env.set_state(before)

    for _ in interrupted_everywhere(lambda: env.step(right), prepare):
        assert_goes_on(env, twin, rng)


@pytest.mark.parametrize("masked", [False, True])
def test_a_reset(masked):
    env, twin = make_vector(), make_vector()
    rng = np.random.default_rng(2)
    options = {"reset_mask": np.arange(NUM_ENVS) % 3 == 0} if masked else None

    def prepare():
        env.reset(seed=3)
        env.step(np.full(NUM_ENVS, 2))

    for _ in interrupted_everywhere(lambda: env.reset(seed=5, options=options), prepare):
        assert_goes_on(env, twin, rng)


def test_the_first_reset():
    twin, rng = make_vector(), np.random.default_rng(2)
    envs = []
    for _ in interrupted_everywhere(lambda: envs[-1].reset(seed=5), lambda: envs.append(make_vector()), TRIES // 3):
        assert_goes_on(envs.pop(), twin, rng)


@pytest.mark.parametrize("name", ["set_state", "get_state", "action_masks", "render"])
def test_saving_restoring_and_looking(steps_to_the_door, name):
    env, twin = (make_vector(render_mode="rgb_array") for _ in range(2))
    late = prepared(env, steps_to_the_door + 3)
    early = prepared(env, 2)
    rng = np.random.default_rng(3)
    calls = {
        "set_state": lambda: env.set_state(late),
        "get_state": env.get_state,
        "action_masks": env.action_masks,
        "render": lambda: env.render([0]),
    }
    for _ in interrupted_everywhere(calls[name], lambda: env.set_state(early), TRIES // 2):
        for i, state in enumerate(env.get_state()):
            assert state in (early[i], late[i])
        assert_goes_on(env, twin, rng)


@pytest.mark.parametrize("name", ["step", "reset", "set_state", "get_state"])
def test_the_single_environment(name):
    env, twin = (npp_env.NppEnv(levels=[DOORS], max_episode_frames=300) for _ in range(2))
    twin.reset(seed=1)
    start = twin.get_state()
    env.reset(seed=0)
    while env._episodes.doors_taken(0) == 0:
        before = env.get_state()
        env.step(2)
    after = env.get_state()
    calls = {
        "step": lambda: env.step(2),
        "reset": lambda: env.reset(seed=1),
        "set_state": lambda: env.set_state(after),
        "get_state": env.get_state,
    }
    for _ in interrupted_everywhere(calls[name], lambda: env.set_state(before), 1000):
        state = env.get_state()
        assert state in (before, start if name == "reset" else after)
        twin.set_state(state)
        for _ in range(2):
            one, other = env.step(2), twin.step(2)
            assert one[1:] == other[1:]
            for key, array in one[0].items():
                np.testing.assert_array_equal(array, other[0][key], err_msg=key)


def test_what_was_handed_out_survives_an_interrupted_step():
    env = make_vector()
    env.reset(seed=3)
    right = np.full(NUM_ENVS, 2)
    held, kept = {}, {}

    def prepare():
        held.update(env.step(right)[0])
        kept.update({key: array.copy() for key, array in held.items()})

    spared = 0
    for at in interrupted_everywhere(lambda: env.step(right), prepare):
        for steps in range(2):
            for key, array in kept.items():
                np.testing.assert_array_equal(held[key], array, err_msg=f"{key} at {at} after {steps} more steps")
            if env._buffers.arrays[env._buffers.current]["game_state"] is not held["game_state"]:
                # The step was complete before the interrupt: the next may overwrite what came before it.
                break
            spared += 1
            env.step(right)
    assert spared > TRIES / 4


def test_the_decoder():
    # Many levels with doors, of which a decoder with room for few always has to load and forget some.
    levels = LevelSet([room((6, 60 + k, 78, 0), (7, 30, 78), (3, 150, 77), (4, 110, 77)) for k in range(6)])
    env = npp_env.NppVectorEnv(12, levels=levels, observation={"layout": "state"})
    rows = [env.reset(seed=0)[0]]
    rows += [env.step(np.full(12, 2))[0] for _ in range(8)]
    states = np.concatenate(rows)
    decoder = ObservationDecoder(env.config, levels, num_threads=2, kept_sources=3)
    expected = ObservationDecoder(env.config, levels).decode(states)
    for at in interrupted_everywhere(lambda: decoder.decode(states), lambda: None, 2 * TRIES):
        for key, array in decoder.decode(states).items():
            np.testing.assert_array_equal(array, expected[key], err_msg=f"{key} at {at}")


def test_a_storm():
    command = [sys.executable, "-m", "tests.runtime.interrupt_storm", "--interrupts", "300"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("300 interrupts") == 3
