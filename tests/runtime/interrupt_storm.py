"""Interrupts at random moments of steps: `python -m tests.runtime.interrupt_storm --interrupts 100000`, a process each.

A timer interrupts after a random time while one environment is stepped, reset, saved and restored. Every interrupt that
gets through is caught and the program goes on, as a person at a prompt would. In between, what the environment does is
compared with a second one that nobody interrupts. Prints a line of figures for each number of threads.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import npp_env
from npp_env.errors import NppError

NUM_ENVS = 96
OFTEN_S = 1e-3
COMPARED_STEPS = 3


@dataclass
class Count:
    """What happened in a storm."""

    interrupts: int = 0
    steps: int = 0
    refusals: int = 0
    compared: int = 0


class Storm:
    """One environment under interrupts, and its twin in the calm."""

    def __init__(self, threads: int, seed: int) -> None:
        # Levels with doors, so that steps have a half in Python too, and mines, which end episodes.
        arguments: dict[str, Any] = {
            "preset": "parallel_training",
            "levels": ["shipped:doors", "shipped:mines"],
            "max_episode_frames": 400,
        }
        self.env = npp_env.NppVectorEnv(NUM_ENVS, num_threads=threads, **arguments)
        self.twin = npp_env.NppVectorEnv(NUM_ENVS, **arguments)
        self.random = random.Random(seed)
        self.count = Count()
        self.env.reset(seed=seed)
        self.twin.reset(seed=seed)

    def actions(self) -> np.ndarray[Any, Any]:
        return np.array([self.random.randrange(6) for _ in range(NUM_ENVS)])

    def blow(self, interrupts: int) -> None:
        """Let so many interrupts through."""
        while self.count.interrupts < interrupts:
            try:
                while True:
                    # Anew after some steps: numpy swallows an interrupt inside `__array_interface__`.
                    signal.setitimer(signal.ITIMER_REAL, OFTEN_S * self.random.random() + 1e-6)
                    for _ in range(50):
                        self.play_or_reset()
            except KeyboardInterrupt:
                self.count.interrupts += 1
            if self.count.interrupts % 100 == 0:
                self.compare()

    def play_or_reset(self) -> None:
        """As `play`; an environment that wants a reset gets it."""
        try:
            self.play()
        except NppError as error:
            assert "reset()" in str(error), error  # noqa: PT017
            self.count.refusals += 1
            self.env.reset()

    def play(self) -> None:
        """What a training loop does, and now and then something else."""
        choice = self.random.random()
        if choice < 0.01:
            self.env.set_state(self.env.get_state())
        elif choice < 0.02:
            self.env.reset()
        elif choice < 0.03:
            self.env.action_masks()
        else:
            self.env.step(self.actions())
            self.count.steps += 1

    def compare(self) -> None:
        """Without interrupts, both environments do the same from the same states on."""
        # An episode that was begun by an interrupted step spends its first step on that.
        self.play_or_reset()
        self.env.step(self.actions())
        self.twin.set_state(self.env.get_state())
        for _ in range(COMPARED_STEPS):
            actions = self.actions()
            one, other = self.env.step(actions), self.twin.step(actions)
            for k in (1, 2, 3):
                np.testing.assert_array_equal(one[k], other[k])
            for key, array in one[0].items():
                np.testing.assert_array_equal(array, other[0][key], err_msg=key)
        assert self.env.get_state() == self.twin.get_state()
        self.count.compared += 1


def main() -> int:
    """Run the storms that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interrupts", type=int, default=1000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for threads in args.threads:
        faulthandler.dump_traceback_later(60 + args.interrupts / 100, exit=True)
        started = time.monotonic()
        storm = Storm(threads, args.seed)
        storm.blow(args.interrupts)
        storm.env.close()
        c = storm.count
        print(
            f"{threads} threads: {c.interrupts:,} interrupts, {c.steps:,} whole steps of {NUM_ENVS} environments, "
            f"{c.refusals} refusals, compared {c.compared:,} times, {time.monotonic() - started:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
