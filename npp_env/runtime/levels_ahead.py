"""Levels that episodes will need, made ahead by a worker process.

Which levels these are is known: the key of an environment and the number of its next episode say so. What the worker
has not made when it is needed, the caller makes itself; so nothing but the time that it takes depends on the worker.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence

from npp_env.config import EnvironmentConfig
from npp_env.level.level_set import LevelSet
from npp_env.runtime.level_parcel import Parcel
from npp_env.runtime.level_resources import LevelResources
from npp_env.runtime.level_worker import Request, order_of
from npp_env.runtime.worker_process import Customer, WorkerProcess, request, shared_worker


class LevelsAhead:
    """The next levels of each environment.

    Args:
        levels: The set, one that never repeats.
        config: What is needed of levels, and how many are asked for at most, those of the longest episodes first.
        max_frames: Truncates episodes in addition to the limit of the configuration.
        slots: How many levels can be in use or ready.
        spare: How many are kept of those that were left.

    Attributes:
        left: What environments have played to the end, the last ones.
    """

    def __init__(
        self, levels: LevelSet, config: EnvironmentConfig, max_frames: int | None, slots: int, spare: int
    ) -> None:
        self._order = (levels, config, max_frames)
        self._most, self._slots = config.levels_ahead, slots
        self.left: OrderedDict[int, LevelResources] = OrderedDict()
        self._spare = spare
        self._playing: dict[int, int] = {}  # level by environment
        self._next: dict[int, tuple[int, ...]] = {}  # levels by environment
        self._holders: dict[int, int] = {}  # how many environments wait for a level
        self._waiting: dict[int, None] = {}  # levels that were not asked for yet, in order
        self._worker: WorkerProcess | None = None
        self._customer: Customer | None = None
        self._leave: weakref.finalize[..., LevelsAhead] | None = None
        self._began = False

    @property
    def nbytes(self) -> int:
        """Bytes of the levels that have come, and that `arrivals` has not given yet."""
        customer = self._customer
        return 0 if customer is None else sum(customer.made[number] for number in customer.news)

    def expect(self, environments: Sequence[int], *rounds: Sequence[int]) -> None:
        """Say which levels come next in some environments, now that they have begun another.

        The worker starts with the second call: whoever plays one episode needs none.

        Args:
            environments: The environments.
            rounds: The level of the next episode of each of them; then that of the one after it, if that is known.
        """
        dropped = b""
        for environment, *numbers in zip(environments, *rounds, strict=True):
            before = self._next.get(environment, ())
            self._next[environment] = tuple(numbers)
            for number in numbers:
                self._holders[number] = self._holders.get(number, 0) + 1
            for number in before:
                dropped += self._forget(number)
        asked = self._customer.asked if self._customer is not None else {}
        for coming in rounds:
            self._waiting |= dict.fromkeys(number for number in coming if number not in asked)
        if self._began and self._open():
            assert self._worker is not None
            assert self._customer is not None
            self._worker.say(dropped + self._ask(self._customer))
        self._began = True

    def leave(self, playing: dict[int, int], loaded: OrderedDict[int, LevelResources]) -> None:
        """Keep few of the levels that were left for others: no episode comes back to them, only a state may.

        Args:
            playing: The number of the level by environment, of those that have begun another.
            loaded: From what is loaded, those that were left are taken.
        """
        for environment, present in playing.items():
            before = self._playing.get(environment, present)
            left = loaded.pop(before, None) if before != present else None
            if left is not None:
                self.left[left.index] = left
        self._playing |= playing
        while len(self.left) > self._spare:
            self.left.popitem(last=False)

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
        self._waiting = dict.fromkeys(number for numbers in self._next.values() for number in numbers)

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

    def _forget(self, number: int) -> bytes:
        """Let go of a level that an environment does not wait for any more; returns what to tell the worker."""
        self._holders[number] -= 1
        if self._holders[number]:
            return b""
        del self._holders[number]
        self._waiting.pop(number, None)
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
            number = next(iter(self._waiting))
            del self._waiting[number]
            if number not in customer.asked:
                slot = customer.asked[number] = customer.shelf.slot()
                requests += request(Request.WANT, customer.number, number, slot.number)
        return requests
