"""Memory samples, and a log of them that does not grow itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.thinning import ThinningTable
from npp_env.profiling.torch_memory import TorchMemory

DEFAULT_CAPACITY = 4096
MIN_CAPACITY = 16


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading at one step; None where a value was not read.

    Attributes:
        step: Step of the reading.
        seconds: Time since the tracker was made.
        steps_per_second: Speed since the reading before.
        rss_bytes: Resident pages, shared ones included.
        uss_bytes: Pages that only this process holds.
        pss_bytes: Private pages, and shared ones divided by the number of sharers.
        traced_bytes: Live Python allocations while tracemalloc traces.
        tracer_bytes: Tables of tracemalloc itself, already taken off the numbers above and below.
        heap_bytes: Bytes the C heap has handed out.
        python_blocks: Live blocks of CPython's own allocator.
        torch: Live tensors and CUDA counters, where torch is loaded.
    """

    step: int
    seconds: float
    steps_per_second: float | None = None
    rss_bytes: int = 0
    uss_bytes: int | None = None
    pss_bytes: int | None = None
    traced_bytes: int | None = None
    tracer_bytes: int = 0
    heap_bytes: int | None = None
    python_blocks: int | None = None
    torch: TorchMemory | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


TORCH_COLUMNS = tuple(TorchMemory.__dataclass_fields__)
OWN_COLUMNS = tuple(name for name in Sample.__dataclass_fields__ if name != "torch")
COLUMNS = OWN_COLUMNS + TORCH_COLUMNS
_NO_TENSORS = [None] * len(TORCH_COLUMNS)


class SampleLog:
    """Samples in a block of fixed size; a full log is thinned, see `ThinningTable`.

    Args:
        capacity: Most samples kept.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        if capacity < MIN_CAPACITY:
            raise ProfilingError(f"capacity must be at least {MIN_CAPACITY} samples, got {capacity}")
        self._table = ThinningTable(len(COLUMNS), capacity)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def nbytes(self) -> int:
        """Bytes of the block."""
        return self._table.nbytes

    def append(self, sample: Sample) -> None:
        """Keep a sample; thins the log first when it is full."""
        steps = self._table.row(COLUMNS.index("step"))
        if len(steps) and sample.step < steps[-1]:
            raise ProfilingError(f"samples must ascend in step: {sample.step} after {int(steps[-1])}")
        values = [getattr(sample, name) for name in OWN_COLUMNS]
        values += [getattr(sample.torch, name) for name in TORCH_COLUMNS] if sample.torch else _NO_TENSORS
        self._table.append([math.nan if value is None else value for value in values])

    def column(self, name: str) -> NDArray[np.float64]:
        """A copy of one column; NaN where the value was not read."""
        if name not in COLUMNS:
            raise ProfilingError(f"no column {name!r}; there are {', '.join(COLUMNS)}")
        values: NDArray[np.float64] = self._table.row(COLUMNS.index(name)).copy()
        return values

    def has(self, name: str) -> bool:
        """Whether any sample has a value in this column."""
        return bool(np.isfinite(self.column(name)).any())

    def __getitem__(self, index: int) -> Sample:
        numbers = self._table.entry(index)
        values = {name: _plain(name, value) for name, value in zip(COLUMNS, numbers, strict=True)}
        torch_values = {name: values.pop(name) for name in TORCH_COLUMNS}
        if any(value is not None for value in torch_values.values()):
            values["torch"] = TorchMemory(**{name: value or 0 for name, value in torch_values.items()})
        return Sample(**values)

    def __iter__(self) -> Iterator[Sample]:
        return (self[index] for index in range(len(self)))

    def to_dict(self) -> dict[str, list[float | None]]:
        """Columns with at least one value, as lists; None where a value was not read."""
        columns = (name for name in COLUMNS if self.has(name) or name in ("step", "seconds"))
        return {name: [_plain(name, value) for value in self.column(name).tolist()] for name in columns}


def _plain(name: str, value: float) -> Any:
    if math.isnan(value):
        return None
    return value if name in ("seconds", "steps_per_second") else int(value)
