"""Ray: what a step costs when workers play it, what nodes are sent and workers hold, and whether memory stays flat.

`python -m benchmarks ray` prints the tables; it needs Ray with RLlib, and torch. `python -m benchmarks.ray
--minutes 30` trains for so long instead, and judges the memory of every process.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from npp_env.learning.settings import TrainSettings
from npp_env.profiling.growth import fit_growth

LEVELS = "shipped"
NUM_ENVS = 1024
STEPS = 32
WIDTH = 128
FLAT_BYTES_PER_1K_SECONDS = 2 * 2**20
SECONDS_BETWEEN_READINGS = 2.0
WARM_UP_SHARE = 1 / 6
"""Of the time, in which processes meet their levels: shown in the file of readings, but not judged."""
STORE_BYTES = 400 * 2**20


def settings(num_envs: int = NUM_ENVS, shards: int = 1) -> TrainSettings:
    """The run that is measured."""
    options = {"num_steps": STEPS, "minibatch": 2048, "epochs": 1}
    policy = {"width": WIDTH}
    return TrainSettings(
        task=LEVELS,
        num_envs=num_envs,
        shards=shards,
        algo_options=options,
        policy_options=policy,
        total_steps=10**9,
    )


def processes() -> list[psutil.Process]:
    """This process and everything that it has started: of a cluster here, all of it."""
    this = psutil.Process()
    return [this, *this.children(recursive=True)]


def cpu_seconds() -> float:
    """CPU time of all of them that live."""
    total = 0.0
    for process in processes():
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


@contextmanager
def cluster_here(cpus: int) -> Iterator[None]:
    """A cluster of one node."""
    import ray

    ray.init(
        "local",
        num_cpus=cpus,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
        object_store_memory=STORE_BYTES,
    )
    yield
    ray.shutdown()


def in_turns(ways: dict[str, Callable[[], Any]], rounds: int, steps: int) -> dict[str, float]:
    """Steps per CPU-second of ways to play so many steps, which take turns."""
    seconds = dict.fromkeys(ways, 0.0)
    for number in range(rounds + 1):
        for name, play in ways.items():
            before = cpu_seconds()
            play()
            if number:  # the first round meets levels
                seconds[name] += cpu_seconds() - before
    return {name: rounds * steps / spent for name, spent in seconds.items()}


def sampling(quick: bool) -> dict[str, Any]:
    """Steps per CPU-second of the same play: in one process, by a worker, by RLlib over states, by RLlib as it is."""
    import torch

    from npp_env.learning.ppo import PPO

    rounds = 2 if quick else 6
    with cluster_here(4):
        plain = PPO(dataclasses.replace(settings(), shards=0))
        on_ray, close = _ray_play()
        states, stock = _rllib_runners()
        torch.set_num_threads(1)  # as every worker has; threads that wait for each other would count
        ways: dict[str, Callable[[], Any]] = {
            "one process": plain.collect,
            "one Ray worker, learner and cluster counted": on_ray,
            "RLlib, StateEnvRunner": lambda: states.sample(num_timesteps=NUM_ENVS * STEPS),
            "RLlib, its own runner": lambda: stock.sample(num_timesteps=NUM_ENVS * STEPS),
        }
        speeds = in_turns(ways, rounds, NUM_ENVS * STEPS)
        close()
        states.stop()
        stock.stop()
    own, slowest = speeds["one process"], speeds["RLlib, its own runner"]
    return {
        "title": f"Sampling with a policy of two layers of {WIDTH}, all shipped levels, {NUM_ENVS:,} environments",
        "header": ["who plays", "steps per CPU-second", "of one process", "of RLlib's own"],
        "rows": [
            [name, round(speed), f"{speed / own:.0%}", f"{speed / slowest:.1f} x"] for name, speed in speeds.items()
        ],
        "notes": [
            "RLlib's own runner has the same vector environment and network; it is given its observations flattened. "
            "CPU time of all processes, in turns."
        ],
    }


def _ray_play() -> tuple[Callable[[], Any], Callable[[], None]]:
    from npp_env.integrations.ray_players import RayPlayers
    from npp_env.learning.sharded_ppo import ShardedPPO

    players = RayPlayers(settings(), 1)
    players.wait_until_ready()
    return ShardedPPO(settings(), players).collect, players.close


def _rllib_runners() -> tuple[Any, Any]:
    """Our runner and RLlib's, with environments and networks alike."""
    import gymnasium as gym
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.connectors.env_to_module import FlattenObservations
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

    from npp_env.integrations.rllib import learn_from_states
    from npp_env.integrations.rllib_runner import StateEnvRunner

    config = PPOConfig().env_runners(num_env_runners=0, num_envs_per_env_runner=NUM_ENVS).debugging(seed=0)
    learn_from_states(config, LEVELS, policy_options={"width": WIDTH})
    played = {**config.env_config["config"], "observation": {**config.env_config["config"]["observation"]}}
    played["observation"]["layout"] = "dict"
    stock = PPOConfig().environment("npp_env:Npp-v0", env_config={"config": played}).debugging(seed=0)
    stock.env_runners(
        num_env_runners=0,
        num_envs_per_env_runner=NUM_ENVS,
        gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
        env_to_module_connector=lambda env, spaces, device: FlattenObservations(),
    )
    stock.rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[WIDTH, WIDTH], fcnet_activation="relu"))
    return StateEnvRunner(config=config, worker_index=0), SingleAgentEnvRunner(config=stock, worker_index=0)


def nodes(quick: bool) -> dict[str, Any]:
    """What two nodes with cache folders of their own are sent, what their workers hold, and how fast they are."""
    import ray
    import torch
    from ray.cluster_utils import Cluster

    from npp_env.integrations.ray_players import RayPlayers
    from npp_env.learning.ppo import PPO
    from npp_env.learning.sharded_ppo import ShardedPPO

    head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(initialize_head=True, head_node_args=head)
        ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
        for name in ("first", "second"):
            place = {"NPP_ENV_CACHE": str(Path(folder, name))}
            cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES, env_vars=place)
        run = settings(4 * NUM_ENVS, 4)
        players = RayPlayers(run, 4)
        players.wait_until_ready()
        same = PPO(settings(NUM_ENVS, 0))
        ways = {"nodes": ShardedPPO(run, players).collect, "alone": lambda: [same.collect() for _ in range(4)]}
        torch.set_num_threads(1)
        speeds = in_turns(ways, 2 if quick else 6, 4 * NUM_ENVS * STEPS)
        by_node: dict[str, list[int]] = {}
        for arrived in players.arrivals:
            by_node.setdefault(arrived.node, []).append(arrived.nbytes)
        memory = ray.get([actor.level_memory.remote() for actor in players.actors])
        pids = ray.get([actor.pid.remote() for actor in players.actors])
        whole = [psutil.Process(pid).memory_full_info().uss for pid in pids]
        sent = players.shipment
        for number, counts in enumerate(by_node.values()):
            rows.append([f"node {number + 1}", f"{sum(counts) / 2**20:.1f} MB, {sum(map(bool, counts))} time"])
        rows.append(["a worker's own memory of levels", f"{max(memory) / 2**20:.2f} MB at most"])
        rows.append(["a worker's own memory in all", f"{max(whole) / 2**20:.0f} MB at most"])
        rows.append(["steps per CPU-second, learner and cluster counted", f"{speeds['nodes']:,.0f}"])
        rows.append(["one process, the vector environment of a worker", f"{speeds['alone']:,.0f}"])
        rows.append(["share of it", f"{speeds['nodes'] / speeds['alone']:.0%}"])
        players.close()
        ray.shutdown()
        cluster.shutdown()
    return {
        "title": f"Two nodes, two workers each: {len(sent.files)} levels, {sent.nbytes / 2**20:.1f} MB compiled",
        "header": ["where", "what came or is held"],
        "rows": rows,
    }


def role_of(process: psutil.Process) -> str:
    """What a process is: of those of Python that are not Ray's workers, the script."""
    name = process.name()
    scripts = [Path(word).stem for word in process.cmdline() if word.endswith(".py")]
    return "learner" if process.pid == os.getpid() else scripts[0] if name.startswith("python") and scripts else name


def own_memory(process: psutil.Process) -> int:
    """Bytes that a process holds for itself.

    Not its unique set: pages of the object store, which is bounded and written all over, count there for whoever was
    the only one to touch them.
    """
    with open(f"/proc/{process.pid}/smaps_rollup") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def watch_memory(minutes: float, workers: int = 2, out: Path | None = None) -> dict[str, Any]:
    """Train on a cluster here, and judge the memory of every process; the readings go into a file if one is named."""
    from npp_env.integrations.ray_players import RayPlayers
    from npp_env.learning.sharded_ppo import ShardedPPO

    readings: dict[tuple[int, str], list[tuple[float, int]]] = {}
    with cluster_here(workers):
        run = settings(NUM_ENVS, 4)
        players = RayPlayers(run, workers)
        players.wait_until_ready()
        algorithm = ShardedPPO(run, players)
        algorithm.iterate()
        began = read = time.monotonic()
        while (passed := time.monotonic() - began) < minutes * 60:
            algorithm.iterate()
            if time.monotonic() - read < SECONDS_BETWEEN_READINGS:
                continue
            read = time.monotonic()
            for process in processes():
                try:
                    readings.setdefault((process.pid, role_of(process)), []).append((passed, own_memory(process)))
                except (psutil.NoSuchProcess, OSError, StopIteration):
                    continue
        steps = algorithm.bench.steps
        players.close()
    if out is not None:
        out.write_text(json.dumps([[name, series] for (_, name), series in readings.items()]))
    rows = []
    for (_, name), series in sorted(readings.items(), key=lambda item: -item[1][-1][1]):
        if series[-1][0] - series[0][0] < minutes * 30:
            continue  # one that came and went
        judged = [reading for reading in series if reading[0] >= WARM_UP_SHARE * minutes * 60]
        seconds, values = zip(*judged, strict=True)
        fit = fit_growth(seconds, values, threshold_per_1k=FLAT_BYTES_PER_1K_SECONDS)
        rows.append([name, round(values[-1] / 2**20), f"{fit.slope_per_1k / 2**20:+.2f}", str(fit.verdict)])
    return {
        "title": f"Own memory of every process, {minutes:g} minutes, {steps:,} steps, {workers} workers",
        "header": ["process", "MB", "MB per 1,000 s", "verdict"],
        "rows": rows,
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure."""
    return {"tables": [sampling(quick), nodes(quick)]}


if __name__ == "__main__":
    from benchmarks.__main__ import format_table

    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray", description=__doc__)
    parser.add_argument("--minutes", type=float, required=True, help="train for so long")
    parser.add_argument("--out", type=Path, help="write all readings here")
    given = parser.parse_args()
    print(format_table(watch_memory(given.minutes, out=given.out)))
    sys.exit(0)
