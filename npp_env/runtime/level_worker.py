"""The process that makes levels ahead, and what is said between it and the process that it works for.

Requests are small messages, one with a payload behind it and the descriptor of a shelf. An answer says which level now
lies in which slot. The worker ends with the process that it works for, however that ends: it reads the end of the
connection, and where a forked child of that process holds the connection open, it sees that its parent is another one.
"""

from __future__ import annotations

import mmap
import os
import pickle
import select
import socket
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum

from npp_env.config import EnvironmentConfig
from npp_env.errors import NppError
from npp_env.level.level_set import LevelSet
from npp_env.runtime.level_parcel import write_parcel
from npp_env.runtime.level_resources import cache_of_one, load_resources

REQUEST = struct.Struct("<IIQII")  # what, customer, number of a level, slot, bytes of the payload
ANSWER = struct.Struct("<IQII")  # customer, number of a level, slot, bytes of the parcel
_CHECK_SECONDS = 1.0


class Request(IntEnum):
    """What a customer can say."""

    COME = 1  # with the level set, what is needed of its levels, and a shelf
    WANT = 2
    DROP = 3
    LEAVE = 4


def order_of(levels: LevelSet, config: EnvironmentConfig, max_frames: int | None) -> bytes:
    """What a customer says when it comes."""
    return pickle.dumps((levels, config, max_frames))


class _Maker:
    """Makes the levels of one customer."""

    def __init__(self, order: bytes, shelf: int) -> None:
        self._levels, self._config, self._max_frames = pickle.loads(order)
        self._shelf = mmap.mmap(shelf, 0)

    def make(self, number: int, slot: int) -> int:
        """Put a level into a slot; returns its bytes, 0 if that was not possible."""
        try:
            found = load_resources(self._config, self._max_frames, self._levels[number], number, cache_of_one())
            return write_parcel(found.prepared(), self._shelf, slot)
        except NppError:
            return 0  # whoever comes to play the level meets the same error


class Worker:
    """Makes what is wanted, first come first served.

    Args:
        link: The connection.
        parent: Number of the process that it works for.
    """

    def __init__(self, link: socket.socket, parent: int) -> None:
        link.settimeout(_CHECK_SECONDS)
        self._link, self._parent = link, parent
        self._received = bytearray()
        self._shelves: deque[int] = deque()
        self._makers: dict[int, _Maker] = {}
        self._wanted: dict[tuple[int, int], int] = {}  # slot by customer and number

    def run(self) -> None:
        """Work until the other side is gone."""
        while self._listen():
            for what, customer, number, slot, payload in self._requests():
                self._note(what, customer, number, slot, payload)
            if self._wanted:
                customer, number = next(iter(self._wanted))
                self._deliver(customer, number, self._wanted.pop((customer, number)))

    def _listen(self) -> bool:
        """Read what was said, waiting for it if there is nothing to do; whether the other side is still there."""
        ready, _, _ = select.select([self._link], [], [], 0 if self._wanted else _CHECK_SECONDS)
        if ready:
            data, descriptors, _, _ = socket.recv_fds(self._link, 1 << 16, 16)
            if not data:
                return False
            self._received += data
            self._shelves.extend(descriptors)
        return os.getppid() == self._parent

    def _requests(self) -> Iterator[tuple[int, int, int, int, bytes]]:
        while len(self._received) >= REQUEST.size:
            what, customer, number, slot, size = REQUEST.unpack_from(self._received)
            end = REQUEST.size + size
            if len(self._received) < end:
                return
            payload = bytes(self._received[REQUEST.size : end])
            del self._received[:end]
            yield what, customer, number, slot, payload

    def _note(self, what: int, customer: int, number: int, slot: int, payload: bytes) -> None:
        if what == Request.COME:
            shelf = self._shelves.popleft()
            self._makers[customer] = _Maker(payload, shelf)
            os.close(shelf)
        elif what == Request.WANT and customer in self._makers:
            self._wanted[customer, number] = slot
        elif what == Request.DROP:
            self._wanted.pop((customer, number), None)
        elif what == Request.LEAVE:
            self._makers.pop(customer, None)
            for key in [key for key in self._wanted if key[0] == customer]:
                del self._wanted[key]

    def _deliver(self, customer: int, number: int, slot: int) -> None:
        size = self._makers[customer].make(number, slot)
        while size and os.getppid() == self._parent:
            try:
                self._link.send(ANSWER.pack(customer, number, slot, size))
                return
            except TimeoutError:
                continue


def serve(descriptor: int, parent: int) -> None:
    """Be the worker of a process, which holds the other end of a connection."""
    # The other side may close it in the middle of a word.
    with socket.socket(fileno=descriptor) as link, suppress(ConnectionError):
        Worker(link, parent).run()
