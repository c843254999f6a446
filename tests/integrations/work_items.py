"""Functions that workers of tests do: they note every call, fail, die, and take their time."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from npp_env.errors import NppError
from npp_env.integrations.work import Job, key_of


@dataclass(frozen=True)
class Squares:
    """Squares numbers, and notes in a folder which it was asked for.

    Args:
        notes: The folder; every call leaves a file there.
        failing: Numbers that raise.
        deadly: Numbers at which the process is killed, for so many times.
        seconds: How long it takes.
    """

    notes: str
    failing: tuple[int, ...] = ()
    deadly: tuple[tuple[int, int], ...] = ()
    seconds: float = 0.0

    def __call__(self, number: int) -> bytes:
        calls = len(self.calls(number))
        Path(self.notes, f"{number}-{calls}-{os.getpid()}").touch()
        time.sleep(self.seconds)
        if number in self.failing:
            raise NppError(f"{number} is not wanted")
        if calls < dict(self.deadly).get(number, 0):
            os.kill(os.getpid(), signal.SIGKILL)
        return str(number**2).encode()

    def calls(self, number: int) -> list[str]:
        """Processes that were asked for a number, one name a call."""
        return [path.name.split("-")[2] for path in Path(self.notes).glob(f"{number}-*")]

    def asked(self) -> list[int]:
        """All numbers that were asked for, in order, as often as they were."""
        return sorted(int(path.name.split("-")[0]) for path in Path(self.notes).iterdir())


def jobs(count: int):
    """The numbers from 0 on."""
    return (Job(key_of("square", number), number) for number in range(count))


def squares(count: int) -> list[bytes]:
    """What should come out."""
    return [str(number**2).encode() for number in range(count)]
