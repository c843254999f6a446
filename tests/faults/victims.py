"""Child processes that something happens to: forked from this one, so that thousands of them cost little."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

DONE, FAILED = 0, 70


@dataclass(frozen=True)
class End:
    """How a victim ended: its exit code, or minus the signal that ended it; what it said if it failed."""

    code: int
    said: str = ""


class Hang(Exception):
    """A victim did not come to an end."""


class Victim:
    """A forked child that runs a function.

    Args:
        work: What it does; an exception ends it with `FAILED` and its text.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._reader)
            self._live(work, writer)
        os.close(writer)

    @staticmethod
    def _live(work: Callable[[], object], writer: int) -> None:
        code = FAILED
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            warnings.simplefilter("ignore")
            work()
            code = DONE
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[-6000:])
        finally:
            os._exit(code)

    def send(self, number: int) -> bool:
        """Send a signal; whether the victim was still there."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait(self, seconds: float = 120.0) -> End:
        """Wait for the end.

        Raises:
            Hang: It did not come in time; the victim is killed.
        """
        deadline = time.monotonic() + seconds
        pause = 0.0002
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                os.close(self._reader)
                raise Hang(f"no end within {seconds:.0f} s")
            time.sleep(pause)
            pause = min(0.05, 1.5 * pause)
        said = os.read(self._reader, 8000).decode(errors="replace")
        os.close(self._reader)
        return End(os.waitstatus_to_exitcode(status), said)


def run_victim(work: Callable[[], object], seconds: float = 120.0) -> End:
    """Run a function in a child to its end."""
    return Victim(work).wait(seconds)


def require(ok: object, what: str) -> None:
    """Raise unless it holds."""
    if not ok:
        raise AssertionError(what)


def require_done(end: End, what: str) -> None:
    """Raise unless a victim did all that it had to do."""
    require(end.code == DONE, f"{what}: ended with {end.code}\n{end.said}")
