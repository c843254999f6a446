from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.observe.path_features import PathHandle
from npp_env.runtime.episode_rows import EpisodeRows
from npp_env.runtime.level_resources import LevelResources
from npp_env.runtime.saved_state import Restoration
from npp_env.runtime.step_results import StepResults
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.kernel import LevelHandle

class Assignment:
    level: LevelHandle
    paths: PathHandle | None
    background: NDArray[np.uint8] | None
    def __init__(
        self,
        level: LevelHandle,
        paths: PathHandle | None,
        background: NDArray[np.uint8] | None,
        limit_frames: int,
        gold: int,
        index: int,
    ) -> None: ...

class Engine(EpisodeRows):
    keys: NDArray[np.uint64]
    episodes: NDArray[np.int64]
    actions: NDArray[np.uint8]
    in_use: list[LevelResources | None]
    path_handles: list[PathHandle | None]
    def set_outputs(
        self, buffer: int, arrays: list[tuple[int, NDArray[np.uint8], int]], held: NDArray[Any] | None = None
    ) -> None: ...
    def take_actions(self, actions: Any) -> None: ...
    def play(self, pool: ThreadPool, buffer: int, results: StepResults) -> int: ...
    def play_first(self, action: int, buffer: int) -> int: ...
    def unfinished(self) -> list[int]: ...
    def finish(self, i: int, paths: PathHandle | None) -> None: ...
    def to_restart(self) -> NDArray[np.int64] | None: ...
    def begin(
        self,
        indices: NDArray[np.int64],
        items: list[LevelResources],
        keys: NDArray[np.uint64],
        episodes: NDArray[np.int64],
        fresh: bool,
    ) -> None: ...
    def begin_drawn(
        self, indices: NDArray[np.int64], loaded: OrderedDict[int, LevelResources], count: int, fresh: bool
    ) -> bool: ...
    def restore(self, restorations: list[Restoration]) -> None: ...
    def observe(self, pool: ThreadPool, buffer: int, indices: NDArray[np.int64]) -> None: ...
    def report(self, results: StepResults) -> None: ...
    def write_key(self, key: int, out: NDArray[np.uint8]) -> None: ...
    def status(self, i: int) -> tuple[int, int, int, int, int, float, int]: ...
