from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

class SectionTable:
    def __init__(self, names: tuple[str, ...], dtypes: tuple[np.dtype[Any], ...]) -> None: ...

class Places(Mapping[str, NDArray[Any]]):
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Sections(Places):
    block: NDArray[np.uint8]
    def __init__(self, block: NDArray[np.uint8], table: SectionTable, first: int, alignment: int) -> None: ...

class JoinedSections(Places):
    def __init__(self, first: Sections, second: Sections) -> None: ...
