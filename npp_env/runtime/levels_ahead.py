"""Levels that episodes will need, made ahead by a worker process.

Which levels these are is known: the key of an environment and the number of its next episode say so. What the worker
has not made when it is needed, the caller makes itself; so nothing but the time that it takes depends on the worker.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable

from npp_env.config import EnvironmentConfig
from npp_env.level.level_set import LevelSet
from npp_env.runtime.level_parcel import Parcel
from npp_env.runtime.level_resources import LevelResources
from npp_env.runtime.level_worker import Request, order_of
from npp_env.runtime.worker_process import Customer, WorkerProcess, request, shared_worker


class LevelsAhead:
    """The next level of each environment.

    Args:
        levels: The set, one that never repeats.
        config: What is needed of levels, and how many are asked for at most, those of the longest episodes first.
        max_frames: Truncates episodes in addition to the limit of the configuration.
        slots: How many levels can be in use or ready.
    """

    def __init__(self, levels: LevelSet, config: EnvironmentConfig, max_frames: int | None, slots: int) -> None:
        self._order = (levels, config, max_frames)
        self._most, self._slots = config.levels_ahead, slots
        self._next: dict[int, int] = {}  # level by environment
        self._holders: Counter[int] = Counter()  # how many environments wait for a level
        self._waiting: dict[int, None] = {}  # environments whose level was not asked for yet, in order
        self._worker: WorkerProcess | None = None
        self._customer: Customer | None = None
        self._leave: weakref.finalize[..., LevelsAhead] | None = None
        self._began = False

    @property
    def nbytes(self) -> int:
        """Bytes of the levels that have come, and that `arrivals` has not given yet."""
        customer = self._customer
        return 0 if customer is None else sum(customer.made[number] for number in customer.news)

    def expect(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Say which level comes next in some environments, now that they have begun another.

        The worker starts with the second call: whoever plays one episode needs none.
        """
        dropped = b""
        for environment, number in pairs:
            dropped += self._forget(self._next.get(environment))
            self._next[environment] = number
            self._holders[number] += 1
            self._waiting.pop(environment, None)
            self._waiting[environment] = None
        if self._began and self._open():
            assert self._worker is not None
            assert self._customer is not None
            self._worker.say(dropped + self._ask(self._customer))
        self._began = True

    def arrivals(self) -> list[LevelResources]:
        """What episodes begin with on all levels that have become ready; one by one they would take much longer."""
        customer, worker = self._customer, self._worker
        if customer is None or worker is None:
            return []
        worker.receive()
        found = [Parcel(customer.asked[number]).resources(number) for number in customer.news]
        customer.news.clear()
        return found

    def take(self, number: int) -> LevelResources | None:
        """What an episode on a level begins with, if it is ready; else the level is the caller's to make."""
        customer, worker = self._customer, self._worker
        if customer is None or worker is None or number not in customer.asked:
            return None
        if number in customer.made:
            return Parcel(customer.asked[number]).resources(number)
        del customer.asked[number]
        worker.say(request(Request.DROP, customer.number, number))
        return None

    def close(self) -> None:
        """Need no worker any more, until the next call of `expect`."""
        if self._leave is not None:
            self._leave()
        self._worker, self._customer, self._leave = None, None, None
        self._waiting = dict.fromkeys(self._next)

    def _open(self) -> bool:
        """Whether there is a worker."""
        if self._worker is not None and self._worker.alive and self._customer and not self._customer.shelf.frozen:
            return True
        worker = shared_worker()
        customer = None if worker is None else worker.come(order_of(*self._order), self._slots)
        self.close()
        if worker is None or customer is None:
            return False
        self._worker, self._customer = worker, customer
        self._leave = weakref.finalize(self, worker.leave, customer.number)
        return True

    def _forget(self, number: int | None) -> bytes:
        """Let go of a level that an environment does not wait for any more; returns what to tell the worker."""
        if number is None:
            return b""
        self._holders[number] -= 1
        if self._holders[number]:
            return b""
        del self._holders[number]
        customer = self._customer
        if customer is None or customer.asked.pop(number, None) is None:
            return b""
        customer.news.pop(number, None)
        if customer.made.pop(number, None):
            return b""
        return request(Request.DROP, customer.number, number)

    def _ask(self, customer: Customer) -> bytes:
        """Requests for the levels that have waited longest, as many as there is room for."""
        requests = b""
        while self._waiting and len(customer.asked) < self._most and customer.shelf.free:
            environment = next(iter(self._waiting))
            del self._waiting[environment]
            number = self._next[environment]
            if number not in customer.asked:
                slot = customer.asked[number] = customer.shelf.slot()
                requests += request(Request.WANT, customer.number, number, slot.number)
        return requests
