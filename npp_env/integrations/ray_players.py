"""`RayPlayers`: the shards of a training run, played by the workers of a Ray cluster.

A worker holds nothing that matters: it gets weights and the saved states of a shard, and gives back a rollout and new
states. So one that dies or lags is replaced, its shard is played by another, and the first result counts.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import statistics
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from npp_env.errors import ConfigError, NppError, requires
from npp_env.integrations.ray_cluster import LOCAL, join_cluster
from npp_env.integrations.ray_levels import Arrived, LevelShipment, pack_levels
from npp_env.learning.networks import network_class
from npp_env.learning.settings import TrainSettings, environment_config
from npp_env.learning.shards import ITERATIONS_BETWEEN_RETURNS, Order, ShardPlayer, ShardRollout, ShardState
from npp_env.level.cache import cache_in
from npp_env.level.cache_room import SUFFIX
from npp_env.level.heap import return_free_memory

with requires("Ray", __name__, "pip install 'npp_env[ray]'"):
    import ray
    from ray.exceptions import RayError, RayTaskError

_LOG = logging.getLogger(__name__)
_POLL_SECONDS = 1.0
_KEPT_DURATIONS = 64
_NO_ITERATION = -1


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a shard may take before another worker plays it too.

    Attributes:
        times: So many times as long as shards usually take,
        least_seconds: but at least so long.
        first_seconds: As long as no shard was finished.
    """

    times: float = 5.0
    least_seconds: float = 20.0
    first_seconds: float = 600.0


class PlayingWorker:
    """What runs in the process of a worker: a Ray actor is made of it.

    Args:
        settings: The run.
        shipment: Its levels.
    """

    def __init__(self, settings: TrainSettings, shipment: LevelShipment) -> None:
        self._settings = settings
        self._shipment = shipment
        self._directory: str | None = settings.environment.get("cache_directory")
        self._player: ShardPlayer | None = None

    def prepare(self) -> Arrived:
        """Get the levels and make the environments; what came to the node for it."""
        arrived = self._shipment.unpack(self._directory)
        self._player = ShardPlayer(dataclasses.replace(self._settings, task=arrived.task))
        return arrived

    def play(self, order: Order, shard: int, state: ShardState) -> ShardRollout:
        """See `ShardPlayer.play`."""
        assert self._player is not None
        # What earlier ones left, which else adds up over hours; not each time, because what is given back comes anew.
        if order.iteration % ITERATIONS_BETWEEN_RETURNS == 0:
            return_free_memory()
        return self._player.play(order, shard, state)

    def pid(self) -> int:
        """Number of the process."""
        return os.getpid()

    def level_memory(self) -> int:
        """Bytes of levels and their artifacts that no other process shares: what a further worker of a node adds."""
        import psutil

        own = sum(use.private_bytes for use in cache_in(self._directory).report().values())
        maps = [one for one in psutil.Process().memory_maps() if one.path.endswith(SUFFIX)]
        return int(own + sum(one.private_clean + one.private_dirty for one in maps))


@dataclass(eq=False)
class _Employed:
    """A worker as the learner sees it.

    Attributes:
        actor: The actor.
        ref: What it is about: its preparation, or a shard; None if it has nothing to do.
        job: Number of the iteration and of the shard; None while it prepares.
        since: When it began.
        late: Whether its shard was given to another too.
    """

    actor: Any
    ref: Any
    job: tuple[int, int] | None = None
    since: float = 0.0
    late: bool = False


class RayPlayers:
    """Plays shards with the workers of a cluster; see `npp_env.learning.shards.ShardPlayers`.

    Args:
        settings: The run; it must have shards.
        workers: How many workers, at most one a shard. Each takes as many CPUs of the cluster as the run has threads.
        address: The cluster, as `ray.init` takes it; `local` starts one on this machine. If this process is connected
            to a cluster already, that is used.
        patience: When a worker lags.

    Attributes:
        shipment: The levels.
        arrivals: What came to which node, one entry for every worker that was ever prepared.
        replaced: Workers that died or lagged.
    """

    def __init__(
        self, settings: TrainSettings, workers: int, address: str = LOCAL, patience: Patience | None = None
    ) -> None:
        if not settings.shards:
            raise ConfigError(
                "a run on Ray needs shards, and this one began without; begin another one with --shards 8"
            )
        if not 1 <= workers <= settings.shards:
            raise ConfigError(f"{workers} workers for {settings.shards} shards; there must be 1 to as many as shards")
        self._settings = settings
        self._patience = Patience() if patience is None else patience
        self._connected = connect(address, workers * settings.threads)
        # Checks the settings before a worker does.
        config = environment_config(settings, network_class(settings.policy), 1.0)
        self.shipment = pack_levels(config)
        # Ray would keep 3 KB of every task for its dashboard, up to 100,000 of them.
        self._kind = ray.remote(PlayingWorker).options(
            num_cpus=settings.threads, scheduling_strategy="SPREAD", enable_task_events=False
        )
        self._durations: deque[float] = deque(maxlen=_KEPT_DURATIONS)
        self.arrivals: list[Arrived] = []
        self.replaced = 0
        self._workers = [self._employ() for _ in range(workers)]

    @property
    def actors(self) -> list[Any]:
        """The present workers; a fresh list."""
        return [worker.actor for worker in self._workers]

    def _employ(self) -> _Employed:
        actor = self._kind.remote(self._settings, self.shipment)
        return _Employed(actor, actor.prepare.remote(), since=time.monotonic())

    def wait_until_ready(self, seconds: float = 600.0) -> None:
        """Wait for all workers; `play` does not, it begins with the first.

        Raises:
            NppError: The time is over.
        """
        deadline = time.monotonic() + seconds
        while missing := sum(worker.job is None and worker.ref is not None for worker in self._workers):
            if time.monotonic() > deadline:
                raise NppError(
                    f"{missing} of {len(self._workers)} workers are not ready after {seconds:.0f} s; they wait for "
                    f"{self._settings.threads} free CPUs each: add nodes, or ask for fewer"
                )
            for worker in self._finished():
                self._take(worker, _NO_ITERATION, {}, deque())

    def play(self, order: Order, states: Sequence[ShardState]) -> list[ShardRollout]:
        """See `ShardPlayers`; the arrays are read-only views of the object store.

        Raises:
            NppError: What a worker raised.
        """
        sent = ray.put(order)
        waiting = deque(range(len(states)))
        found: dict[int, ShardRollout] = {}
        tries = [0] * len(states)
        while len(found) < len(states):
            for worker in self._workers:
                if worker.ref is None and waiting:
                    shard = waiting.popleft()
                    worker.job, worker.since = (order.iteration, shard), time.monotonic()
                    worker.ref = worker.actor.play.remote(sent, shard, states[shard])
            for worker in self._finished():
                self._take(worker, order.iteration, found, waiting)
            self._notice_late(order.iteration, found, waiting, tries)
        for worker in [worker for worker in self._workers if worker.late]:
            self._dismiss(worker, "is late")
        return [found[shard] for shard in range(len(states))]

    def _finished(self) -> list[_Employed]:
        """Workers that are done with something, after a short wait."""
        by_ref = {worker.ref: worker for worker in self._workers if worker.ref is not None}
        done, _ = ray.wait(list(by_ref), num_returns=1, timeout=_POLL_SECONDS)
        return [by_ref[ref] for ref in done]

    def _take(self, worker: _Employed, iteration: int, found: dict[int, ShardRollout], waiting: deque[int]) -> None:
        """Take what a worker has done; the first result of a shard counts, and no other."""
        job, ref = worker.job, worker.ref
        worker.job = worker.ref = None
        is_wanted = job is not None and job[0] == iteration and job[1] not in found
        try:
            result = ray.get(ref)
        except RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except RayError as error:
            self._dismiss(worker, type(error).__name__)
            self._workers.append(self._employ())
            if is_wanted and job is not None and not self._is_played(job):
                waiting.appendleft(job[1])
            return
        if job is None:
            self.arrivals.append(result)
            return
        self._durations.append(time.monotonic() - worker.since)
        worker.late = False
        if is_wanted:
            found[job[1]] = result
            if job[1] in waiting:
                waiting.remove(job[1])

    def _is_played(self, job: tuple[int, int]) -> bool:
        return any(worker.job == job for worker in self._workers)

    def _notice_late(
        self, iteration: int, found: dict[int, ShardRollout], waiting: deque[int], tries: list[int]
    ) -> None:
        """Give shards that take too long to another worker too: one that is idle, or a new one."""
        patience = self._patience
        usual = statistics.median(self._durations) if self._durations else 0.0
        limit = max(patience.least_seconds, patience.times * usual) if usual else patience.first_seconds
        for worker in list(self._workers):
            if worker.job is None or worker.late or worker.job[0] != iteration or worker.job[1] in found:
                continue
            shard = worker.job[1]
            if time.monotonic() - worker.since > limit * 2 ** tries[shard]:
                tries[shard] += 1
                worker.late = True
                waiting.append(shard)
                self._workers.append(self._employ())

    def _dismiss(self, worker: _Employed, why: str) -> None:
        _LOG.warning("a worker is replaced: it %s", why)
        self.replaced += 1
        self._workers.remove(worker)
        ray.kill(worker.actor)

    def close(self) -> None:
        """Let the workers go, and end the cluster if it was started for them."""
        if ray.is_initialized():
            for worker in self._workers:
                ray.kill(worker.actor)
        self._workers = []
        if self._connected:
            ray.shutdown()


def connect(address: str, cpus: int) -> bool:
    """Connect to a cluster, or start one here; whether that was needed.

    Args:
        address: As `ray.init` takes it, or `local`.
        cpus: CPUs that a local one must have at least; they may be more than the machine has.

    Raises:
        ConfigError: There is no such cluster.
    """
    try:
        return join_cluster(address, max(cpus, os.cpu_count() or 1))
    except ConnectionError as error:
        raise ConfigError(f"no Ray cluster at {address!r}: {error}; `ray start --head` starts one") from error
