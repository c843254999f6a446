from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.one_ways import OneWay

def stop_image(one_ways: Sequence[OneWay], shape: tuple[int, ...]) -> NDArray[np.uint8]: ...

class ContactImage:
    def __init__(self, labels: NDArray[np.uint16], stops: NDArray[np.uint8]) -> None: ...
    def all_keys(self) -> NDArray[np.int64]: ...
    def keys_cut_by(self, near: NDArray[np.uint8], top: int, left: int) -> NDArray[np.int64]: ...

class TouchImage:
    start: NDArray[np.int64]
    node: NDArray[np.uint16]
    def __init__(self, labels: NDArray[np.uint16], places: NDArray[np.float64]) -> None: ...
    def entries_cut_by(
        self, near: NDArray[np.uint8], top: int, left: int, chosen: NDArray[Any]
    ) -> NDArray[np.int64]: ...
