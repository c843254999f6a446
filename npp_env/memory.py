"""Who holds which bytes: the data model of `env.memory_report()` and `vec.memory_report()`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Holding:
    """One array or cache.

    Attributes:
        owner: Part of npp_env that holds it, such as "states" or "level cache".
        name: The array, such as "ninja" or "background".
        bytes: Size of its data.
        shared: Whether other environments or processes hold the same memory.
    """

    owner: str
    name: str
    bytes: int
    shared: bool = False


@dataclass(frozen=True, slots=True)
class OwnerTotal:
    """Sum over the holdings of one owner."""

    owner: str
    private_bytes: int
    shared_bytes: int

    @property
    def total_bytes(self) -> int:
        """Private and shared bytes."""
        return self.private_bytes + self.shared_bytes


class MemoryReport:
    """Every array and cache that something holds.

    Args:
        holdings: The arrays and caches; memory that is shared stands once.

    Example:
        >>> tiles = Holding("levels", "tiles", 1024, shared=True)
        >>> report = MemoryReport([Holding("states", "ninja", 2048), tiles])
        >>> report.total_bytes, report.private_bytes, report.shared_bytes
        (3072, 2048, 1024)
    """

    __slots__ = ("holdings",)

    def __init__(self, holdings: Iterable[Holding]) -> None:
        self.holdings: tuple[Holding, ...] = tuple(holdings)

    @property
    def private_bytes(self) -> int:
        """Bytes that nobody else holds."""
        return sum(holding.bytes for holding in self.holdings if not holding.shared)

    @property
    def shared_bytes(self) -> int:
        """Bytes that others hold too."""
        return sum(holding.bytes for holding in self.holdings if holding.shared)

    @property
    def total_bytes(self) -> int:
        """Private and shared bytes."""
        return sum(holding.bytes for holding in self.holdings)

    def by_owner(self) -> dict[str, OwnerTotal]:
        """Sums by owner, the largest first."""
        private: dict[str, int] = {}
        shared: dict[str, int] = {}
        for holding in self.holdings:
            side = shared if holding.shared else private
            side[holding.owner] = side.get(holding.owner, 0) + holding.bytes
        totals = [OwnerTotal(owner, private.get(owner, 0), shared.get(owner, 0)) for owner in {**private, **shared}]
        totals.sort(key=lambda total: (-total.total_bytes, total.owner))
        return {total.owner: total for total in totals}

    def __add__(self, other: MemoryReport) -> MemoryReport:
        """Holdings of both."""
        return MemoryReport((*self.holdings, *other.holdings))

    def to_text(self) -> str:
        """Table of all holdings, grouped by owner."""
        lines = [f"{'owner':<24} {'holding':<28} {'bytes':>14}  kind"]
        for owner, total in self.by_owner().items():
            own = sorted((h for h in self.holdings if h.owner == owner), key=lambda h: (-h.bytes, h.name))
            lines.append(f"{owner:<24} {'':<28} {total.total_bytes:>14,}")
            lines += [f"{'':<24} {h.name:<28} {h.bytes:>14,}  {'shared' if h.shared else 'private'}" for h in own]
        lines.append(f"{'total':<24} {'':<28} {self.total_bytes:>14,}")
        lines.append(f"{'':<24} {'private':<28} {self.private_bytes:>14,}")
        lines.append(f"{'':<24} {'shared':<28} {self.shared_bytes:>14,}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "total_bytes": self.total_bytes,
            "private_bytes": self.private_bytes,
            "shared_bytes": self.shared_bytes,
            "owners": {
                owner: {"private_bytes": total.private_bytes, "shared_bytes": total.shared_bytes}
                for owner, total in self.by_owner().items()
            },
            "holdings": [asdict(holding) for holding in self.holdings],
        }
