"""A finished profile, and the form in which `memory.json` holds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from npp_env.profiling.allocation_sites import AllocationSite
from npp_env.profiling.growth import GrowthFit, Verdict
from npp_env.profiling.phases import PhaseReport
from npp_env.runtime.memory import MemoryReport

PROFILE_FORMAT = "npp_env.memory_profile"
PROFILE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Summary:
    """The run as a whole; `memory_column` names the readings that bytes and slope are of."""

    verdict: Verdict
    memory_column: str
    steps: int
    seconds: float
    steps_per_second: float
    first_bytes: int
    final_bytes: int
    slope_per_1k: float


@dataclass(frozen=True, slots=True)
class TrackerCost:
    """What the tracker took, in seconds and as a share of the run."""

    cost_seconds: float
    cost_fraction: float


@dataclass(frozen=True, slots=True)
class OwnerCurves:
    """Bytes by owner at some steps of the run."""

    step: list[float]
    owners: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Profile:
    """All data of a profile.

    Attributes:
        label: Title of the reports.
        environment: Versions of npp_env and Python, and the system.
        tools: What else measured, and made the steps slower.
        summary: The run as a whole.
        growth: Fits by column of the samples.
        speed: Fit of the loss of speed.
        phases: Growth by phase; None where no phase was marked.
        samples: Columns of the samples that hold a value.
        tracker: What the tracker took.
        allocation_sites: Lines of Python that grew, the largest growth first.
        owners: Bytes by owner at the end; None where no owners were asked.
        owner_history: Bytes by owner over the run.
    """

    label: str
    environment: str
    tools: tuple[str, ...]
    summary: Summary
    growth: dict[str, GrowthFit]
    speed: GrowthFit
    phases: PhaseReport | None
    samples: dict[str, list[float | None]]
    tracker: TrackerCost
    allocation_sites: tuple[AllocationSite, ...]
    owners: MemoryReport | None
    owner_history: OwnerCurves

    @property
    def speed_text(self) -> str:
        """One sentence on the speed."""
        words = {Verdict.FLAT: "steady", Verdict.GROWING: "slowing down", Verdict.UNDECIDED: "undecided"}
        return (
            f"{words[self.speed.verdict]}: {-100 * self.speed.slope_per_1k:+.2f} % per 1,000 steps "
            f"over {self.speed.samples_used} samples (a loss of 10 % over the run counts)"
        )

    def to_dict(self) -> dict[str, Any]:
        """The content of `memory.json`."""
        phases = self.phases
        return {
            "format": PROFILE_FORMAT,
            "version": PROFILE_VERSION,
            "environment": self.environment,
            "summary": asdict(self.summary),
            "growth": {name: {**fit.to_dict(), "text": fit.to_text()} for name, fit in self.growth.items()},
            "speed": {**self.speed.to_dict(), "text": self.speed_text},
            "phases": {**phases.to_dict(), "text": phases.to_text()} if phases is not None else None,
            "samples": self.samples,
            "tracker": asdict(self.tracker),
            "label": self.label,
            "tools": list(self.tools),
            "allocation_sites": [asdict(site) for site in self.allocation_sites],
            "owners": self.owners.to_dict() if self.owners is not None else None,
            "owner_history": asdict(self.owner_history),
        }
