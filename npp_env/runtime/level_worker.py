"""The process that makes levels ahead, and what is said between it and the process that it works for.

Requests are small messages, some with a payload behind them. An answer is the number of a level, with the descriptor of
a parcel. The worker ends with the process that it works for, however that ends: it reads the end of the connection,
and where a forked child of that process holds the connection open, it sees that its parent is another one.
"""

from __future__ import annotations

import errno
import os
import pickle
import select
import socket
import struct
import time
from collections.abc import Iterator
from enum import IntEnum

from npp_env.errors import NppError
from npp_env.level.level_set import LevelSet
from npp_env.runtime.level_parcel import cache_of_one, write_parcel
from npp_env.runtime.level_resources import LevelLoader

REQUEST = struct.Struct("<IIQI")  # what, customer, number of a level, bytes of the payload
ANSWER = struct.Struct("<IQ")  # customer, number of a level
_CHECK_SECONDS = 1.0
_CROWDED_SECONDS = 0.02


class Request(IntEnum):
    """What a customer can say."""

    COME = 1  # with the level set, and what is needed of its levels
    WANT = 2
    DROP = 3
    LEAVE = 4


def order_of(levels: LevelSet, needs_graph: bool, needs_background: bool) -> bytes:
    """What a customer says when it comes."""
    return pickle.dumps((levels, needs_graph, needs_background))


class _Maker:
    """Makes the levels of one customer."""

    def __init__(self, order: bytes) -> None:
        self._levels, self._needs_graph, self._needs_background = pickle.loads(order)

    def make(self, number: int) -> int:
        """The descriptor of a level's parcel."""
        level = self._levels[number]
        cache = cache_of_one()
        LevelLoader(cache, self._needs_graph, self._needs_background).build(level, cache)
        return write_parcel(level, cache)


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
        self._makers: dict[int, _Maker] = {}
        self._wanted: dict[tuple[int, int], None] = {}

    def run(self) -> None:
        """Work until the other side is gone."""
        while self._listen():
            for what, customer, number, payload in self._requests():
                self._note(what, customer, number, payload)
            if self._wanted:
                customer, number = next(iter(self._wanted))
                del self._wanted[customer, number]
                self._deliver(customer, number)

    def _listen(self) -> bool:
        """Read what was said, waiting for it if there is nothing to do; whether the other side is still there."""
        ready, _, _ = select.select([self._link], [], [], 0 if self._wanted else _CHECK_SECONDS)
        if ready:
            data = self._link.recv(1 << 16)
            if not data:
                return False
            self._received += data
        return os.getppid() == self._parent

    def _requests(self) -> Iterator[tuple[int, int, int, bytes]]:
        while len(self._received) >= REQUEST.size:
            what, customer, number, size = REQUEST.unpack_from(self._received)
            end = REQUEST.size + size
            if len(self._received) < end:
                return
            payload = bytes(self._received[REQUEST.size : end])
            del self._received[:end]
            yield what, customer, number, payload

    def _note(self, what: int, customer: int, number: int, payload: bytes) -> None:
        if what == Request.COME:
            self._makers[customer] = _Maker(payload)
        elif what == Request.WANT and customer in self._makers:
            self._wanted[customer, number] = None
        elif what == Request.DROP:
            self._wanted.pop((customer, number), None)
        elif what == Request.LEAVE:
            self._makers.pop(customer, None)
            for key in [key for key in self._wanted if key[0] == customer]:
                del self._wanted[key]

    def _deliver(self, customer: int, number: int) -> None:
        try:
            descriptor = self._makers[customer].make(number)
        except NppError:
            return  # whoever comes to play the level meets the same error
        try:
            while os.getppid() == self._parent:
                try:
                    socket.send_fds(self._link, [ANSWER.pack(customer, number)], [descriptor])
                    return
                except TimeoutError:
                    continue
                except OSError as error:
                    if error.errno != errno.ETOOMANYREFS:
                        raise
                    time.sleep(_CROWDED_SECONDS)
        finally:
            os.close(descriptor)


def serve(descriptor: int, parent: int) -> None:
    """Be the worker of a process, which holds the other end of a connection."""
    with socket.socket(fileno=descriptor) as link:
        try:
            Worker(link, parent).run()
        except ConnectionError:
            pass  # the other side has closed it in the middle of a word
