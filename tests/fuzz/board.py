"""A small shared file by which the watching process sees what the running one does, even after its death."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from tests.fuzz.mutate import MAX_BYTES

_NUMBERS = struct.Struct("<qqqqqqq")
_NAMES = ("executions", "accepted", "new_paths", "faults", "slowest_us", "busy", "length")
_INPUT = _NUMBERS.size


class Board:
    """Counters, and the input under way.

    Attributes:
        executions: Inputs run to their end.
        accepted: Of these, how many were not refused.
        new_paths: Inputs that reached something new.
        faults: Inputs that neither were accepted nor refused in good order.
        slowest_us: CPU time of the slowest input.
        busy: Whether an input is under way.
        length: Bytes of that input.
    """

    def __init__(self, path: Path) -> None:
        size = _INPUT + MAX_BYTES + 1
        if not path.exists():
            path.write_bytes(bytes(size))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)

    def begin(self, data: bytes) -> None:
        """Say what is about to be run."""
        self._map[_INPUT : _INPUT + len(data)] = data
        self.length, self.busy = len(data), 1

    def end(self, seconds: float) -> None:
        """Say that it was run."""
        self.busy = 0
        self.executions += 1
        if seconds * 1e6 > self.slowest_us:
            self.slowest_us = int(seconds * 1e6)

    def input(self) -> bytes:
        """The input under way, or the last one."""
        return bytes(self._map[_INPUT : _INPUT + self.length])


def _number(place: int) -> property:
    def get(board: Board) -> int:
        return int(struct.unpack_from("<q", board._map, 8 * place)[0])

    def put(board: Board, value: int) -> None:
        struct.pack_into("<q", board._map, 8 * place, value)

    return property(get, put)


for _place, _name in enumerate(_NAMES):
    setattr(Board, _name, _number(_place))
