"""Counts faults, and what was wrong after them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Row:
    """One kind of fault."""

    name: str
    faults: int = 0
    checks: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Tally:
    """All kinds."""

    rows: dict[str, Row] = field(default_factory=dict)

    @contextmanager
    def fault(self, name: str, count: int = 1) -> Iterator[Row]:
        """Count faults that happen inside the block; what the block raises is a wrong outcome."""
        row = self.rows.setdefault(name, Row(name))
        began = time.monotonic()
        row.faults += count
        try:
            yield row
            row.checks += 1
        except Exception:
            row.wrong.append(traceback.format_exc())
        finally:
            row.seconds += time.monotonic() - began

    @property
    def wrong(self) -> int:
        """Wrong outcomes of all kinds."""
        return sum(len(row.wrong) for row in self.rows.values())

    def table(self) -> str:
        """A line for each kind."""
        lines = ["| fault | times | checks afterwards | wrong | seconds |", "|---" * 5 + "|"]
        for row in self.rows.values():
            lines.append(f"| {row.name} | {row.faults:,} | {row.checks:,} | {len(row.wrong)} | {row.seconds:,.0f} |")
        total = sum(row.faults for row in self.rows.values())
        lines.append(f"faults: {total:,} faults of {len(self.rows)} kinds, {self.wrong} wrong outcomes")
        return "\n".join(lines)
