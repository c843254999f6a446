"""Work on a Ray cluster: items are tasks, which Ray begins anew where a worker or a node dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from npp_env.errors import requires
from npp_env.integrations.work import Done, Function, WorkError, answer, code_digest
from npp_env.integrations.work_processes import MOST_DEATHS, died_text

with requires("Ray", __name__, "pip install 'npp_env[ray]'"):
    import ray

    from npp_env.integrations.ray_cluster import join_cluster

_AHEAD = 2
"""Tasks under way for each one that can run at once: workers never wait, and an autoscaler sees that there is more."""
_LEAST_UNDER_WAY = 4
_OBJECT_STORE_BYTES = 100 << 20


@contextmanager
def connected(address: str, cpus: int | None = None) -> Iterator[None]:
    """Use a cluster inside the block; a connection that exists already is used, and left.

    Args:
        address: `local` starts one here, which ends with the block; `auto` finds one on this machine; else HOST:PORT.
        cpus: Processors of a local one; all of this machine if None.

    Raises:
        WorkError: There is no cluster.
    """
    try:
        is_ours = join_cluster(address, cpus, _OBJECT_STORE_BYTES)
    except ConnectionError as error:
        start = "`ray start --head` starts one, and the address local one for this run alone"
        raise WorkError(f"there is no Ray cluster at {address}: {error}; {start}") from error
    try:
        yield
    finally:
        if is_ours:
            ray.shutdown()


class RayPool:
    """Does the work on the cluster that this process is connected to.

    Args:
        cpus: Processors that an item takes.
    """

    def __init__(self, cpus: int = 1) -> None:
        self._cpus = cpus
        self._function: Any = None
        self._under_way: dict[Any, int] = {}
        # A worker's death is the system's fault until the same item has seen several.
        self._task = ray.remote(num_cpus=cpus, max_retries=MOST_DEATHS - 1)(_work)

    def begin(self, function: Function) -> None:
        """See `Pool`; what the function carries along travels once to a node."""
        self._function = ray.put(function)

    def has_room(self) -> bool:
        """See `Pool`."""
        return len(self._under_way) < max(_LEAST_UNDER_WAY, _AHEAD * self._at_once())

    def _at_once(self) -> int:
        return int(ray.cluster_resources().get("CPU", 0)) // self._cpus

    def submit(self, number: int, argument: Any) -> None:
        """See `Pool`."""
        # In a list, a reference arrives as such, and is opened once in a process.
        self._under_way[self._task.remote([self._function], code_digest(), argument)] = number

    def wait(self) -> tuple[int, Done]:
        """See `Pool`."""
        (task,), _ = ray.wait(list(self._under_way), num_returns=1)
        number = self._under_way.pop(task)
        try:
            done: Done = ray.get(task)
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError):
            return number, Done(None, died_text(MOST_DEATHS))
        except ray.exceptions.RayError as error:
            return number, Done(None, f"Ray: {type(error).__name__}: {str(error).strip().splitlines()[-1]}")
        return number, done

    def drop(self) -> None:
        """See `Pool`."""
        # Without a connection, Ray would start a cluster of its own for this.
        for task in self._under_way if ray.is_initialized() else ():
            ray.cancel(task, force=True)
        self._under_way.clear()
        self._function = None


def _work(function: list[Any], code: str, argument: Any) -> Done:
    """What a worker does with an item."""
    if code != code_digest():
        return Done(None, "another version of npp_env is installed on this node; install the same one on all nodes")
    return answer(_opened(function[0]), argument)


@lru_cache(maxsize=1)
def _opened(reference: Any) -> Function:
    function: Function = ray.get(reference)
    return function
