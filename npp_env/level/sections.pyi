from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

class SectionTable:
    head_bytes: int
    def __init__(
        self,
        what: str,
        magic: int,
        version: int,
        n_numbers: int,
        names: tuple[str, ...],
        dtypes: tuple[np.dtype[Any], ...],
        alignment: int,
    ) -> None: ...

class Places(Mapping[str, NDArray[Any]]):
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Sections(Places):
    block: NDArray[np.uint8]
    def __init__(self, block: NDArray[np.uint8], table: SectionTable) -> None: ...
    @property
    def numbers(self) -> list[int]: ...

class JoinedSections(Places):
    def __init__(self, first: Sections, second: Sections) -> None: ...
