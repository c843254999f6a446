"""Levels that episodes will need, made ahead by a worker process.

Which levels these are is known: the key of an environment and the number of its next episode say so. What the worker
has not made when it is needed, the caller makes itself; so nothing but the time that it takes depends on the worker.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable

from npp_env.config import EnvironmentConfig
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.runtime.level_parcel import read_parcel
from npp_env.runtime.level_resources import LevelResources
from npp_env.runtime.level_worker import Request, order_of
from npp_env.runtime.worker_process import Asked, WorkerProcess, request, shared_worker


class LevelsAhead:
    """The next level of each environment.

    Args:
        levels: The set, one that never repeats.
        config: What is needed of levels, and how many are asked for at most, those of the longest episodes first.
        load: Makes of a level, its number and a cache with all that is needed what an episode begins with.
    """

    def __init__(
        self,
        levels: LevelSet,
        config: EnvironmentConfig,
        load: Callable[[Level, int, LevelCache], LevelResources],
    ) -> None:
        self._order = (levels, config.needs_graph, config.needs_background)
        self._load, self._most = load, config.levels_ahead
        self._next: dict[int, int] = {}  # level by environment
        self._holders: Counter[int] = Counter()  # how many environments wait for a level
        self._waiting: dict[int, None] = {}  # environments whose level was not asked for yet, in order
        self._asked: Asked = {}
        self._ready: dict[int, LevelResources] = {}  # of those that were asked for
        self._worker: WorkerProcess | None = None
        self._customer = 0
        self._leave: weakref.finalize[..., LevelsAhead] | None = None
        self._began = False

    @property
    def ready(self) -> list[LevelResources]:
        """What waits for its episode; a fresh list."""
        return list(self._ready.values())

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
            self._worker.say(dropped + self._ask())
        self._began = True

    def take(self, number: int) -> LevelResources | None:
        """What an episode on a level begins with, if it is ready; else the level is the caller's to make."""
        if self._worker is None:
            return None
        if number not in self._ready:
            self._unpack(self._worker)
        found = self._ready.get(number)
        if found is None and number in self._asked:
            del self._asked[number]
            self._worker.say(request(Request.DROP, self._customer, number))
        return found

    def _unpack(self, worker: WorkerProcess) -> None:
        """Take all that has come; many at once cost less than half of what they do one by one."""
        worker.receive()
        for number, file in self._asked.items():
            if file is not None and number not in self._ready:
                level, cache = read_parcel(file)
                self._ready[number] = self._load(level, number, cache).prepared()

    def close(self) -> None:
        """Need no worker any more, until the next call of `expect`."""
        if self._leave is not None:
            self._leave()
        self._worker, self._leave, self._asked = None, None, {}
        self._ready.clear()
        self._waiting = dict.fromkeys(self._next)

    def _open(self) -> bool:
        """Whether there is a worker."""
        if self._worker is not None and self._worker.alive:
            return True
        self.close()
        self._worker = shared_worker()
        if self._worker is None:
            return False
        self._customer, self._asked = self._worker.come(order_of(*self._order))
        self._leave = weakref.finalize(self, self._worker.leave, self._customer)
        return True

    def _forget(self, number: int | None) -> bytes:
        """Let go of a level that an environment does not wait for any more; returns what to tell the worker."""
        if number is None:
            return b""
        self._holders[number] -= 1
        if self._holders[number]:
            return b""
        del self._holders[number]
        on_its_way = number in self._asked and self._asked[number] is None
        self._asked.pop(number, None)
        self._ready.pop(number, None)
        return request(Request.DROP, self._customer, number) if on_its_way else b""

    def _ask(self) -> bytes:
        """Requests for the levels that have waited longest, as many as there is room for."""
        requests = b""
        while self._waiting and len(self._asked) < self._most:
            environment = next(iter(self._waiting))
            del self._waiting[environment]
            number = self._next[environment]
            if number not in self._asked:
                self._asked[number] = None
                requests += request(Request.WANT, self._customer, number)
        return requests
