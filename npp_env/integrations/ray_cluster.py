"""The Ray cluster that this process works with: one that runs, or one of its own."""

from __future__ import annotations

import socket
from typing import Any

from npp_env.errors import requires

with requires("Ray", __name__, "pip install 'npp_env[ray]'"):
    import ray

LOCAL = "local"
_CLIENT = "ray://"
_CONNECT_SECONDS = 10


def join_cluster(address: str, cpus: int | None = None, object_store_bytes: int | None = None) -> bool:
    """Connect to a cluster, unless this process is connected already; whether that was needed.

    Args:
        address: `local` starts one here; `auto` finds one on this machine; else HOST:PORT.
        cpus: Processors of a local one, which may be more than the machine has; all of the machine if None.
        object_store_bytes: Of a local one; as Ray chooses if None.

    Raises:
        ConnectionError: There is no such cluster; the message says why.
    """
    if ray.is_initialized():
        return False
    _check_reachable(address)
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    here = {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": object_store_bytes}
    try:
        ray.init(address=address, **quiet, **(here if address == LOCAL else {}))
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConnectionError(str(error)) from error
    return True


def _check_reachable(address: str) -> None:
    """Ray itself waits for minutes before it gives up."""
    host, colon, port = address.removeprefix(_CLIENT).rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(str(error)) from error
