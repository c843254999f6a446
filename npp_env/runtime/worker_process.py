"""One worker process for all environments of this process, which begins with the first that needs it."""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field

from npp_env.runtime.level_parcel import Shelf
from npp_env.runtime.level_worker import ANSWER, REQUEST, Request
from npp_env.runtime.slot import Slot

_logger = logging.getLogger(__name__)
_MOST_ANSWERS = 512
_CODE = "import sys; sys.path[:] = {path!r}; from npp_env.runtime.level_worker import serve; serve({link}, {parent})"


@dataclass(slots=True)
class Customer:
    """Someone whom the worker works for.

    Attributes:
        number: Of the customer.
        shelf: Where its levels are put.
        asked: The slot of each level that it has asked for.
        made: The bytes of those that are ready.
        news: Those of them that it has not looked at.
    """

    number: int
    shelf: Shelf
    asked: dict[int, Slot] = field(default_factory=dict)
    made: dict[int, int] = field(default_factory=dict)
    news: dict[int, None] = field(default_factory=dict)


class WorkerProcess:
    """The worker as its customers see it; nobody ever waits for it.

    Whatever goes wrong with it ends it, and its customers make their levels themselves from then on.
    """

    def __init__(self) -> None:
        self._link, theirs = socket.socketpair()
        code = _CODE.format(path=sys.path, link=theirs.fileno(), parent=os.getpid())
        with theirs:
            # A session of its own, so that Ctrl-C in a terminal does not reach it.
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._link.setblocking(False)
        self._customers: dict[int, Customer] = {}
        self._arrivals = 0
        # A customer may leave while garbage is collected, in the middle of any of these calls.
        self._lock = threading.RLock()
        self.alive = True

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def come(self, order: bytes, slots: int) -> Customer | None:
        """Become a customer with some slots; None if there is no room for them."""
        with self._lock:
            self._arrivals += 1
            try:
                customer = Customer(self._arrivals, Shelf(slots))
            except OSError as error:
                self._fail(str(error))
                return None
            self._customers[customer.number] = customer
            self.say(request(Request.COME, customer.number, payload=order), customer.shelf.descriptor)
        return customer

    def leave(self, customer: int) -> None:
        """Be a customer no longer; the last one ends the worker."""
        with self._lock:
            self._customers.pop(customer, None)
            if not self._customers:
                self.end()
            self.say(request(Request.LEAVE, customer))

    def say(self, message: bytes, *descriptors: int) -> None:
        """Send requests, or forget them if the worker has too much to do."""
        with self._lock:
            if not self.alive:
                return
            try:
                sent = socket.send_fds(self._link, [message], descriptors) if descriptors else self._link.send(message)
                whole = sent == len(message)
            except BlockingIOError:
                return
            except OSError:
                whole = False
            if not whole:
                self._fail()

    def receive(self) -> None:
        """Hear what the worker has made so far."""
        with self._lock:
            while self.alive:
                try:
                    answers = self._link.recv(_MOST_ANSWERS * ANSWER.size)
                except BlockingIOError:
                    return
                except OSError:
                    answers = b""
                if not answers or len(answers) % ANSWER.size:
                    self._fail()
                    return
                for number, level, slot, size in ANSWER.iter_unpack(answers):
                    customer = self._customers.get(number)
                    if customer is not None and level in customer.asked and customer.asked[level].number == slot:
                        customer.made[level] = size
                        customer.news[level] = None

    def _fail(self, reason: str = "") -> None:
        global _failed
        if self.alive:
            _failed = True
            self.end()
            reason = reason or f"status {self._process.returncode}"
            _logger.warning(
                "the worker process that makes levels ahead has ended (%s); each is made when it is needed", reason
            )

    def end(self) -> None:
        """End the process, and see it end."""
        if self.alive:
            self.alive = False
            self._link.close()
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        """Have every customer come again with another shelf."""
        for customer in list(self._customers.values()):
            customer.shelf.freeze()

    def disown(self) -> None:
        """In a forked child: leave the worker to the parent."""
        self.alive = False
        self._lock = threading.RLock()
        self._link.close()
        self._process.returncode = 0  # else Python waits for it, which only the parent can


def request(what: Request, customer: int, number: int = 0, slot: int = 0, payload: bytes = b"") -> bytes:
    """The bytes of a request."""
    return REQUEST.pack(what, customer, number, slot, len(payload)) + payload


_worker: WorkerProcess | None = None
_failed = False
_start_lock = threading.Lock()


def shared_worker() -> WorkerProcess | None:
    """The worker of this process, started if need be; None where there can be none.

    A daemonic process (of `AsyncVectorEnv`, of `SubprocVecEnv`) has none: there are as many of these as processors, and
    nobody would see to it that what they start ends.
    """
    global _worker
    with _start_lock:
        if _worker is not None and _worker.alive:
            return _worker
        if _failed or not can_work_beside():
            return None
        try:
            _worker = WorkerProcess()
        except OSError as error:
            _logger.warning("no worker process for levels ahead: %s; each is made when it is needed", error)
            return None
        return _worker


def can_work_beside() -> bool:
    """Whether this process can have a worker."""
    has_means = hasattr(socket, "send_fds") and sys.platform != "win32"
    return has_means and bool(sys.executable) and not hasattr(sys, "frozen") and not _is_daemonic()


def _is_daemonic() -> bool:
    return bool(multiprocessing.current_process().daemon)


def _after_fork_in_parent() -> None:
    if _worker is not None:
        _worker.freeze()


def _after_fork() -> None:
    global _worker, _start_lock
    _start_lock = threading.Lock()
    if _worker is not None:
        _worker.disown()
        _worker = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)
