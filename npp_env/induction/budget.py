"""How much memory a computation may take, and what follows for its blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from npp_env.errors import ConfigError

DEFAULT_BUDGET_BYTES = 256 << 20
LEAST_BUDGET_BYTES = 4 << 20
_LARGEST_BLOCK = 1 << 15
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


def parse_bytes(value: int | str) -> int:
    """A number of bytes, or text such as "256 MB".

    Raises:
        ConfigError: It is neither, or less than 4 MiB.

    Example:
        >>> parse_bytes("64MB")
        64000000
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(value))
    if found is None or found[2].upper() not in _UNITS:
        raise ConfigError(f"memory_budget is {value!r}; it is a number of bytes, or text such as '256 MB'")
    nbytes = int(float(found[1]) * _UNITS[found[2].upper()])
    if nbytes < LEAST_BUDGET_BYTES:
        raise ConfigError(f"memory_budget is {value!r}; at least {LEAST_BUDGET_BYTES} bytes are needed")
    return nbytes


@dataclass(frozen=True, slots=True)
class Budget:
    """Memory that arrays may take together.

    Attributes:
        nbytes: All of it.
        block_states: States that are worked on at once; None to choose them by the memory.
    """

    nbytes: int = DEFAULT_BUDGET_BYTES
    block_states: int | None = None

    def __post_init__(self) -> None:
        if self.block_states is not None and self.block_states < 1:
            raise ConfigError(f"block_states is {self.block_states}; at least 1")

    def block_of(self, bytes_per_state: int) -> int:
        """How many states fit into an eighth of the memory."""
        if self.block_states is not None:
            return self.block_states
        return max(1, min(self.nbytes // 8 // max(1, bytes_per_state), _LARGEST_BLOCK))

    def holds(self, nbytes: int) -> bool:
        """Whether one array of this size may be in memory, being less than half of it."""
        return nbytes <= self.nbytes // 2
