"""Work in this process, and on processes of this machine that may die without harm."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from npp_env.integrations.work import Done, Function, WorkError, answer

MOST_DEATHS = 3
"""An item whose process has died so often is given up: it is probably the reason."""


def died_text(deaths: int) -> str:
    """What is told of an item that was given up."""
    return f"the process that worked on it died {deaths} times (killed, or out of memory)"


class Here:
    """Does the work in this process, one item after the other."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Any]] = deque()
        self._function: Function | None = None

    def begin(self, function: Function) -> None:
        """See `Pool`."""
        self._function = function

    def has_room(self) -> bool:
        """See `Pool`."""
        return not self._waiting

    def submit(self, number: int, argument: Any) -> None:
        """See `Pool`."""
        self._waiting.append((number, argument))

    def wait(self) -> tuple[int, Done]:
        """See `Pool`."""
        assert self._function is not None, "begin comes first"
        number, argument = self._waiting[0]
        done = answer(self._function, argument)
        self._waiting.popleft()
        return number, done

    def drop(self) -> None:
        """See `Pool`."""
        self._waiting.clear()


@dataclass(slots=True, eq=False)
class _Worker:
    process: Any
    pipe: Connection[Any, Any]
    item: tuple[int, Any, int] | None = None  # number, argument, deaths so far


class Processes:
    """Does the work on processes of this machine, one item each at a time.

    Args:
        count: Number of processes; each is started when it is first needed.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._function: Function | None = None
        self._workers: list[_Worker] = []
        # Forked children would share threads and locks that they know nothing of.
        self._context = multiprocessing.get_context("spawn")

    def begin(self, function: Function) -> None:
        """See `Pool`."""
        self._function = function

    def has_room(self) -> bool:
        """See `Pool`."""
        return len(self._workers) < self._count or any(worker.item is None for worker in self._workers)

    def submit(self, number: int, argument: Any) -> None:
        """See `Pool`."""
        self._hand_out((number, argument, 0))

    def _hand_out(self, item: tuple[int, Any, int]) -> None:
        worker = next((worker for worker in self._workers if worker.item is None), None)
        if worker is None:
            worker = self._start()
        worker.item = item
        try:
            worker.pipe.send(item[1])
        except OSError:
            return  # it died while it had nothing to do; `wait` notices

    def _start(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, self._function), daemon=True)
        process.start()
        there.close()
        worker = _Worker(process, here)
        self._workers.append(worker)
        return worker

    def wait(self) -> tuple[int, Done]:
        """See `Pool`."""
        while True:
            busy = {worker.pipe: worker for worker in self._workers if worker.item is not None}
            if not busy:
                raise WorkError("nothing is under way")
            worker = busy[wait(list(busy))[0]]  # type: ignore[index]
            assert worker.item is not None, "it is busy"
            number, argument, deaths = worker.item
            try:
                done: Done = worker.pipe.recv()
            except (EOFError, OSError):
                self._bury(worker)
                if deaths + 1 == MOST_DEATHS:
                    return number, Done(None, died_text(MOST_DEATHS))
                self._hand_out((number, argument, deaths + 1))
                continue
            worker.item = None
            return number, done

    def _bury(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()

    def drop(self) -> None:
        """See `Pool`; no process is left."""
        for worker in list(self._workers):
            self._bury(worker)


def _work(pipe: Connection[Any, Any], function: Function) -> None:
    """What a process does, until nobody is at the other end any more."""
    # Ctrl-C goes to all processes of a terminal; the one that started this ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The processes share the processors already; torch and others would start as many threads in each.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        while True:
            pipe.send(answer(function, pipe.recv()))
    except (EOFError, OSError):
        return
