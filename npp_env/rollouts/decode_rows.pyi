from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.observe.spec import Capacity
from npp_env.runtime.thread_pool import ThreadPool

KNOWN: np.dtype[Any]
SOURCE: np.dtype[Any]
TAG: np.dtype[Any]
OTHER_VERSION: int
UNKNOWN_LEVEL: int
UNKNOWN_DOORS: int
NO_STATE: int
BLANK: int

class RowDecoder:
    count: int
    found: NDArray[np.int32]
    def __init__(self, capacity: Capacity, doors_matter: bool, blank_allowed: bool) -> None: ...
    def set_tables(self, known: NDArray[Any], n_known: int, sources: NDArray[Any], handles: Any) -> None: ...
    def set_rows(self, rows: NDArray[np.uint8], indices: NDArray[np.int64] | None) -> None: ...
    def set_targets(self, targets: list[tuple[int, NDArray[np.uint8]]], tags: NDArray[Any] | None) -> None: ...
    def write_fully(self, handle: Any, paths: Any, state: NDArray[np.uint8], key: int, out: NDArray[Any]) -> None: ...
    def resolve(self, first: int, batch: int) -> int: ...
    def write(self, pool: ThreadPool) -> None: ...
