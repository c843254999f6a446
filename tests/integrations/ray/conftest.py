"""Clusters of Ray on this machine."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

STORE_BYTES = 100 * 2**20


@pytest.fixture(scope="module")
def one_node():
    """A cluster of one node that has CPUs for all, whatever the machine has."""
    import ray

    ray.init(
        "local",
        num_cpus=8,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
        object_store_memory=STORE_BYTES,
    )
    yield
    ray.shutdown()


@pytest.fixture
def cluster(tmp_path):
    """Makes nodes, each with a cache folder of its own; the first, with the driver, has no CPUs for workers."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False},
    )
    ray.init(address=made.address, logging_level="ERROR", log_to_driver=False)

    def add(name, cpus=2):
        folder = tmp_path / name
        environment = {"NPP_ENV_CACHE": str(folder)}
        node = made.add_node(num_cpus=cpus, object_store_memory=STORE_BYTES, env_vars=environment)
        return node, folder

    made.add = add
    yield made
    ray.shutdown()
    made.shutdown()
