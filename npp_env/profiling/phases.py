"""Growth by phase: which part of an iteration makes the next one start higher.

A phase that allocates is no suspect by itself: a rollout takes memory and the update gives it back. What
counts is the level at which iterations *start*. Where that baseline ratchets up, the rise is charged to the
phases that kept what they took: allocations that later phases give back are cancelled first, and only the rest
is charged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.growth import GrowthFit, Verdict, fit_growth
from npp_env.profiling.process_memory import read_in_use_bytes
from npp_env.profiling.thinning import ThinningTable

OUTSIDE = "(between phases)"
DEFAULT_THRESHOLD_BYTES_PER_ITERATION = 1024
MAX_ITERATIONS = 4096
WARM_UP_FRACTION = 0.25
AMBIGUOUS_TRANSFER_FACTOR = 3.0


@dataclass(frozen=True, slots=True)
class PhaseGrowth:
    """Growth charged to one phase.

    Attributes:
        name: Name of the phase.
        net_bytes: Mean change of the bytes in use across the phase, whether or not it was given back later.
        charged_bytes: Mean growth of the baseline per iteration that the phase answers for.
        share: Part of the whole growth, 0 to 1.
    """

    name: str
    net_bytes: float
    charged_bytes: float
    share: float


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """Growth of the start-of-iteration baseline, and the phases it is charged to, the largest first.

    Attributes:
        iterations: Complete iterations seen.
        baseline: Fit of the baseline; its slope is in bytes per 1,000 iterations.
        phases: Growth by phase.
        ambiguous: Whether so much moves between phases that the charge may belong to the phase that gives
            back too little instead.
    """

    iterations: int
    baseline: GrowthFit
    phases: tuple[PhaseGrowth, ...]
    ambiguous: bool

    @property
    def culprit(self) -> str | None:
        """The phase that answers for most of the growth; None unless the baseline grows."""
        if self.baseline.verdict is not Verdict.GROWING or not self.phases:
            return None
        return self.phases[0].name

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "iterations": self.iterations,
            "baseline": self.baseline.to_dict(),
            "phases": [asdict(phase) for phase in self.phases],
            "culprit": self.culprit,
            "ambiguous": self.ambiguous,
        }

    def to_text(self) -> str:
        """Table of the phases, with the verdict on the baseline above it."""
        per_iteration = self.baseline.slope_per_1k / 1000 / 1024
        lines = [
            f"start-of-iteration baseline: {self.baseline.verdict}, {per_iteration:+.2f} KB per iteration "
            f"over {self.iterations} iterations. {self.baseline.reason}",
            f"{'phase':<20} {'net KB/iteration':>17} {'charged KB/iteration':>21} {'share':>7}",
        ]
        lines += [
            f"{p.name:<20} {p.net_bytes / 1024:>17.2f} {p.charged_bytes / 1024:>21.2f} {p.share:>7.0%}"
            for p in self.phases
        ]
        if self.ambiguous:
            lines.append("Much memory moves between the phases: perhaps another one frees too little.")
        return "\n".join(lines)


class PhaseLedger:
    """Books the bytes in use at the borders of phases and iterations.

    Args:
        meter: Bytes in use now. The default asks the allocators, not the kernel: pages that an allocator
            keeps after a free would otherwise be charged to whichever phase touches them first.

    Example:
        >>> level = 0
        >>> ledger = PhaseLedger(meter=lambda: level)
        >>> for _ in range(40):
        ...     ledger.begin("collect"); level += 5000; ledger.end()
        ...     ledger.begin("update"); level += 0; ledger.end()
        >>> ledger.report().culprit
        'collect'
    """

    def __init__(self, meter: Callable[[], int] = read_in_use_bytes) -> None:
        self._meter = meter
        self._baselines = ThinningTable(rows=2, capacity=MAX_ITERATIONS)  # number of the iteration, bytes at its start
        self._stride = 1
        self._iteration = -1
        self._first_phase: str | None = None
        self._open_phase: str | None = None
        self._explicit = False
        self._level = 0
        self._sums: dict[str, float] = {}
        self._history: list[tuple[int, dict[str, float]]] = []

    def begin_iteration(self) -> None:
        """Start an iteration at the present level."""
        self._explicit = True
        self._book(OUTSIDE)
        self._start_iteration()

    def begin(self, name: str) -> None:
        """Enter a phase."""
        if self._open_phase is not None:
            raise ProfilingError(f"phase {name!r} begins inside phase {self._open_phase!r}; phases do not nest")
        self._book(OUTSIDE)
        if self._first_phase is None:
            self._first_phase = name
        if not self._explicit and name == self._first_phase:
            self._start_iteration()
        self._open_phase = name

    def end(self) -> None:
        """Leave the phase."""
        if self._open_phase is None:
            raise ProfilingError("no phase is open")
        self._book(self._open_phase)
        self._open_phase = None

    def report(self) -> PhaseReport:
        """Growth so far; the first quarter of the iterations is left out as warm-up."""
        numbers, baselines = self._baselines.row(0), self._baselines.row(1)
        fit = fit_growth(numbers, baselines, threshold_per_1k=DEFAULT_THRESHOLD_BYTES_PER_ITERATION * 1000)
        net = self._net_by_phase()
        charged = cancel_transfers(net)
        total = sum(charged.values())
        moved = sum(change for change in net.values() if change > 0) - total
        slope = fit.slope_per_1k / 1000 if fit.verdict is Verdict.GROWING else total
        phases = [
            PhaseGrowth(name, net[name], slope * (kept / total), kept / total)
            if total > 0
            else PhaseGrowth(name, net[name], 0.0, 0.0)
            for name, kept in charged.items()
        ]
        phases.sort(key=lambda phase: -phase.charged_bytes)
        ambiguous = fit.verdict is Verdict.GROWING and moved > AMBIGUOUS_TRANSFER_FACTOR * total
        return PhaseReport(max(0, self._iteration), fit, tuple(phases), ambiguous)

    def _start_iteration(self) -> None:
        self._iteration += 1
        if self._iteration % self._stride:
            return
        if self._baselines.append((self._iteration, self._level)):
            self._stride *= 2
        self._remember_sums()

    def _remember_sums(self) -> None:
        """Keep running sums of a few dozen iterations, to subtract those of the warm-up later."""
        self._history.append((self._iteration, dict(self._sums)))
        if len(self._history) > 64:
            self._history = self._history[::2]

    def _book(self, name: str) -> None:
        """Charge the change since the last border to a phase; what came before the first iteration, to nobody."""
        before, self._level = self._level, self._meter()
        if self._iteration >= 0:
            self._sums[name] = self._sums.get(name, 0.0) + self._level - before

    def _net_by_phase(self) -> dict[str, float]:
        if len(self._history) < 2:
            return {}
        last_iteration, last_sums = self._history[-1]
        first_iteration, first_sums = self._history[int(WARM_UP_FRACTION * len(self._history))]
        count = max(1, last_iteration - first_iteration)
        return {name: (total - first_sums.get(name, 0.0)) / count for name, total in last_sums.items()}


def cancel_transfers(net: dict[str, float]) -> dict[str, float]:
    """What each phase keeps for good: frees of one phase cancel the allocations of others, the largest first.

    Example:
        >>> cancel_transfers({"collect": 100.0, "sample": 5.0, "update": -100.0})
        {'collect': 0.0, 'sample': 5.0, 'update': 0.0}
    """
    kept = {name: max(0.0, change) for name, change in net.items()}
    freed = -sum(change for change in net.values() if change < 0)
    for name in sorted(kept, key=lambda phase: -kept[phase]):
        cancelled = min(kept[name], freed)
        kept[name] -= cancelled
        freed -= cancelled
    return kept
