"""Where a computation lives: a folder of the user's, which is kept, or one of its own, which is removed."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.errors import ConfigError
from npp_env.induction.budget import DEFAULT_BUDGET_BYTES, Budget, parse_bytes
from npp_env.induction.watching import OnProgress, Watch
from npp_env.profiling.guard import MemoryGuard

TRANSITIONS = "transitions"


class Workspace:
    """A folder for the arrays of a plan.

    Args:
        directory: The user's, which is kept; None for a temporary one, which goes when nobody holds the plan any more.
        keep: Keep a temporary one as well.

    Attributes:
        path: The folder.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, keep: bool = False) -> None:
        if directory is not None:
            self.path = Path(directory)
            return
        self.path = Path(tempfile.mkdtemp(prefix="npp-env-plan-"))
        if not keep:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Resources:
    """What a computation may use; no result depends on it.

    Attributes:
        memory_budget: Bytes, or text such as "256 MB", that its arrays may take together.
        threads: Threads that share the work.
        block_states: States that are worked on at once; by the memory if None.
        slice_states: States of a slice on disk, after each of which what was done is safe; 16 MB of states if None.
        guard: Pauses or stops the computation where memory is low.
        on_progress: Called now and then: what, how much is done, of how much, a remark.
        keep: Keep a temporary folder.
    """

    memory_budget: int | str = DEFAULT_BUDGET_BYTES
    threads: int = 1
    block_states: int | None = None
    slice_states: int | None = None
    guard: MemoryGuard | None = None
    on_progress: OnProgress | None = None
    keep: bool = False
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", Budget(parse_bytes(self.memory_budget), self.block_states))
        if self.threads < 1:
            raise ConfigError(f"threads is {self.threads}; at least 1")
        if self.slice_states is not None and self.slice_states < 1:
            raise ConfigError(f"slice_states is {self.slice_states}; at least 1")

    def with_budget(self, memory_budget: int | str | None) -> Resources:
        """The same with another memory budget, unless it is None."""
        return self if memory_budget is None else replace(self, memory_budget=memory_budget)

    @property
    def watch(self) -> Watch:
        """Whom to ask and to tell."""
        return Watch(self.guard, self.on_progress)


def number_type(name: str) -> np.dtype[Any]:
    """The type of numbers that values are stored in.

    Raises:
        ConfigError: There is no such type here.
    """
    if name not in ("float64", "float32"):
        raise ConfigError(f"dtype is {name!r}; it is 'float64' or 'float32' (float16 is for exported policies)")
    return np.dtype(name)


def per_human(name: str, value: Any, humans: int, low: float, high: float) -> list[float]:
    """A number for each human, from one or as many.

    Raises:
        ConfigError: There are too few or too many, or one is out of range.
    """
    given = np.asarray(value, np.float64)
    if given.shape not in ((), (humans,)) or not ((given >= low) & (given <= high)).all():
        raise ConfigError(f"{name} is {value}; it is a number from {low:g} to {high:g}, or one for each of {humans}")
    return [float(number) for number in np.broadcast_to(given, (humans,))]
