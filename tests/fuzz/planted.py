"""Entrances with planted faults, for the test of the fuzzer; as a module, a worker that has only these."""

from __future__ import annotations

import os
import sys
import time

from npp_env.errors import NppError
from tests.fuzz.entrance import Entrance, Run
from tests.fuzz.worker import main


def read_deep(data: bytes) -> None:
    """Fails on one in billions of random inputs; each step towards it is a line of its own."""
    if data[0:1] == b"N":
        if data[1:2] == b"+":
            if data[2:3] == b"+":
                raise ZeroDivisionError("planted")
            raise NppError("third")
        raise NppError("second")
    raise NppError("first")


def fails(error: BaseException | None, act) -> Run:
    def run(data: bytes) -> None:
        if data and data[0] % 8 == 3:
            act()
            if error is not None:
                raise error
        raise NppError("refused")

    return run


def spin() -> None:
    while True:
        time.process_time()


def entrance(name: str, run: Run) -> Entrance:
    return Entrance(name, lambda: [b"aaaa"], lambda folder: run)


PLANTED = {
    one.name: one
    for one in (
        entrance("deep", read_deep),
        entrance("dies", fails(None, os.abort)),
        entrance("hangs", fails(None, spin)),
        entrance("message", fails(NppError("an escape \x1b[2J"), lambda: None)),
        entrance("sound", fails(None, lambda: None)),
    )
}

if __name__ == "__main__":
    sys.exit(main(PLANTED))
