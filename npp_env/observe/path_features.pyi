from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

class PathHandle:
    arrays: dict[str, NDArray[Any]]
    address: int
    spawn_distance: float
    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        graph: int,
        spawn_distance: float,
        reachable_share: float,
    ) -> None: ...
