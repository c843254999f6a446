import numpy as np
from numpy.typing import NDArray

class Flood:
    def __init__(
        self,
        start: NDArray[np.uint32],
        target: NDArray[np.uint16],
        gate: NDArray[np.int16],
        gate_start: NDArray[np.uint16],
        gate_door: NDArray[np.uint16],
        is_open: NDArray[np.bool_],
    ) -> None: ...
    def run(
        self, seed: int, door_of_node: NDArray[np.int32], gates_start: NDArray[np.int32], gates: NDArray[np.int32]
    ) -> NDArray[np.uint8]: ...
