"""Measures the memory of one case in a process of its own: `python -m benchmarks._memory_probe JSON`.

The argument is a dictionary with the name of a probe below and its arguments; the result is printed as JSON.
Sizes are differences against the same process after its imports, so that what Python and numpy take does not count, and
leave out the code of libraries: its pages count as private or shared depending on which other programs happen to run.
`rss_bytes` is of the whole process, code included.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measuring import OBSERVATION_SETS, configuration, held_actions
from npp_env.level.heap import return_free_memory
from npp_env.profiling.process_memory import PageMemory, read_heap_bytes

FEW_LEVELS = "shipped:first_steps"
KEPT_OBSERVATIONS = 2
"""Observations that a training loop holds of each environment: the present one and the one before it."""


def read_memory() -> PageMemory:
    """Memory of this process after a collection; USS and PSS without the code of libraries."""
    gc.collect()
    uss = pss = rss = dirty = 0
    counted = True
    with open("/proc/self/smaps", encoding="utf-8") as file:
        for line in file:
            name, *rest = line.split()
            if not name.endswith(":"):
                counted = not _is_code(rest[-1])
            elif name == "Rss:":
                rss += int(rest[0])
            elif name == "Pss:" and counted:
                pss += int(rest[0])
            elif name.startswith("Private_") and counted:
                uss += int(rest[0])
                dirty += int(rest[0]) if name == "Private_Dirty:" else 0
    return PageMemory(1024 * rss, 1024 * uss, 1024 * pss, 1024 * dirty)


def read_baseline() -> PageMemory:
    """The same, after the C library gave back what the imports freed; else that would be counted as a saving later."""
    gc.collect()
    return_free_memory()
    return read_memory()


def _is_code(path: str) -> bool:
    return ".so" in os.path.basename(path) or os.path.basename(path).startswith("python")


def difference(before: PageMemory, after: PageMemory) -> dict[str, int]:
    """What came in between, and the whole process."""
    return {
        "uss_bytes": after.uss_bytes - before.uss_bytes,
        "pss_bytes": after.pss_bytes - before.pss_bytes,
        "rss_bytes": after.rss_bytes,
    }


def probe_singles(
    count: int,
    preset: str | None = None,
    observations: str | None = None,
    levels: str = FEW_LEVELS,
    steps: int = 20,
    copy: bool | None = None,
    widened: bool = False,
    picture: bool = False,
    own_levels: bool = False,
    one_buffer: bool = False,
) -> dict[str, int]:
    """Environments in one process, each with the observations that a training loop holds of it.

    Args:
        count: Number of environments.
        preset: Name of a preset, if any.
        observations: Name of an observation set, if any.
        levels: The levels that they play, all of which are loaded and counted.
        steps: Steps that each plays.
        copy: As in the configuration; None leaves it to the preset.
        widened: Keep the observations as float32 instead of float16.
        picture: Keep a rendered picture per environment, as environments with an animation surface do.
        own_levels: Let nothing be shared between environments: each has its own compiled level and graph in private
            memory.
        one_buffer: Let all write into rows of one array that the caller owns.
    """
    from npp_env import NppEnv

    arguments: dict[str, Any] = {"levels": levels, **({"preset": preset} if preset else {})}
    if observations is not None:
        arguments["config"] = configuration(OBSERVATION_SETS[observations])
    if copy is not None:
        arguments["copy"] = copy
    if picture:
        arguments["render_mode"] = "rgb_array"
    actions = held_actions(steps, count)
    _load_lazy_modules(arguments)
    if own_levels:
        # What the first environment drops must not be counted against it.
        _forget_levels()
    before = read_baseline()
    buffers = _common_buffers(arguments, count) if one_buffer else [None] * count
    environments, held = [], []
    for i in range(count):
        if own_levels:
            _forget_levels()
        env = NppEnv(**arguments, buffers=buffers[i])
        observation, _ = env.reset(seed=i)
        kept = [_held(observation, widened)]
        for action in actions[:, i].tolist():
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                observation, _ = env.reset()
            kept = [*kept, _held(observation, widened)][-KEPT_OBSERVATIONS:]
        environments.append(env)
        held.append((kept, env.render() if picture else None))
    result = difference(before, read_memory())
    return {**result, "observation_bytes": _nbytes(held[0][0][-1])}


def probe_vector(
    num_envs: int, observations: str = "vectors", levels: str = FEW_LEVELS, steps: int = 30, copy: bool = False
) -> dict[str, int]:
    """A vector environment; with views, its own double buffer holds the observations."""
    from npp_env import NppVectorEnv

    actions = held_actions(steps, num_envs)
    arguments = {"config": configuration(OBSERVATION_SETS[observations], copy=copy, levels=levels)}
    _load_lazy_modules(arguments)
    before = read_baseline()
    env = NppVectorEnv(num_envs, **arguments)
    observation, _ = env.reset(seed=0)
    for row in actions:
        observation, *_ = env.step(row)
    result = difference(before, read_memory())
    return {**result, "observation_bytes": _nbytes(observation) // num_envs}


def probe_process(num_envs: int, observations: str = "vectors", steps: int = 30) -> dict[str, int]:
    """A process that does nothing but run a vector environment with shaped rewards: what `ps` shows for it."""
    import npp_env

    env = npp_env.NppVectorEnv(num_envs, configuration(OBSERVATION_SETS[observations], copy=False))
    env.reset(seed=0)
    for row in held_actions(steps, num_envs):
        env.step(row)
    after = read_memory()
    return {"rss_bytes": after.rss_bytes, "uss_bytes": after.uss_bytes, "pss_bytes": after.pss_bytes}


def probe_growth(
    million_steps: float, levels: str = FEW_LEVELS, num_envs: int = 1024, samples: int = 40
) -> dict[str, Any]:
    """USS, and what the C heap has handed out, over many steps of a vector environment."""
    from npp_env import NppVectorEnv

    env = NppVectorEnv(num_envs, configuration(OBSERVATION_SETS["vectors"], copy=False, levels=levels))
    env.reset(seed=0)
    actions = held_actions(256, num_envs)
    calls = max(samples, round(million_steps * 1e6 / num_envs))
    # Python's and the C library's allocators settle in the first steps.
    for step in range(min(1000, calls)):
        env.step(actions[step % len(actions)])
    uss, heap = [read_memory().uss_bytes], [read_heap_bytes() or 0]
    for sample in range(1, samples + 1):
        for step in range(calls * (sample - 1) // samples, calls * sample // samples):
            env.step(actions[step % len(actions)])
        uss.append(read_memory().uss_bytes)
        heap.append(read_heap_bytes() or 0)
    # The C library gives pages back and takes them again. Only what stays counts: the least of each half is compared.
    half = len(uss) // 2
    steps = calls * num_envs / 1e6
    return {
        "million_steps": steps,
        "uss_bytes_per_million_steps": (min(uss[half:]) - min(uss[:half])) / (steps / 2),
        "heap_bytes_per_million_steps": (min(heap[half:]) - min(heap[:half])) / (steps / 2),
        "uss_bytes": uss,
        "heap_bytes": heap,
    }


def _load_lazy_modules(arguments: dict[str, Any]) -> None:
    """Import what the first environment would import, by making one in a state that is then thrown away."""
    from npp_env import NppEnv

    env = NppEnv(**{**arguments, "levels": "shipped:first_steps/walk"})
    env.reset(seed=0)
    env.step(0)
    if env.render_mode is not None:
        env.render()
    del env
    gc.collect()


def _forget_levels() -> None:
    """Give the next environment its own copy, in private memory, of all that environments share."""
    from npp_env.level import cache
    from npp_env.observe import path_handles

    class PrivateCache(cache.LevelCache):
        def _open_or_build(self, *arguments: Any) -> tuple[Any, bool]:
            array, built = super()._open_or_build(*arguments)
            private = np.array(array)
            private.setflags(write=False)
            return private, built

    cache._by_directory.clear()
    cache._by_directory[None] = PrivateCache()
    path_handles._handles.clear()


def _common_buffers(arguments: dict[str, Any], count: int) -> list[dict[str, Any]]:
    from npp_env import NppEnv

    spaces = NppEnv(**arguments).observation_space.spaces
    arrays = {key: np.zeros((count, *space.shape), space.dtype) for key, space in spaces.items()}
    return [{key: array[i : i + 1] for key, array in arrays.items()} for i in range(count)]


def _held(observation: dict[str, Any], widened: bool) -> dict[str, Any]:
    if not widened:
        return observation
    return {
        key: array.astype(np.float32) if array.dtype == np.float16 else array.copy()
        for key, array in observation.items()
    }


def _nbytes(observation: dict[str, Any]) -> int:
    return sum(array.nbytes for array in observation.values())


def probe_levels(observations: str) -> dict[str, Any]:
    """What all shipped levels take when one environment has played a little of each, by artifact."""
    from npp_env import NppEnv
    from npp_env.level.cache import default_cache

    arguments = {"config": configuration(OBSERVATION_SETS[observations], copy=False)}
    _load_lazy_modules(arguments)
    before = read_baseline()
    env = NppEnv(**arguments)
    count = env._episodes.num_levels
    for number in range(count):
        env.reset(seed=0, options={"level": number})
        for action in (2, 5, 2, 5):
            env.step(action)
    result: dict[str, Any] = difference(before, read_memory())
    report = default_cache().report()
    sizes = {name: use.mapped_bytes + use.private_bytes for name, use in report.items() if use.count}
    return {**result, "levels": count, "artifact_bytes": sizes}


PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    "levels": probe_levels,
    "singles": probe_singles,
    "vector": probe_vector,
    "process": probe_process,
    "growth": probe_growth,
}


if __name__ == "__main__":
    case = json.loads(sys.argv[1])
    print(json.dumps(PROBES[case.pop("probe")](**case)))
