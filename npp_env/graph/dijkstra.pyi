from typing import Any

from numpy.typing import NDArray

def spread(
    start: NDArray[Any], neighbour: NDArray[Any], length: NDArray[Any], distance: NDArray[Any], came_from: NDArray[Any]
) -> None: ...
