"""Before against after: two profiles, compared owner by owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from npp_env.errors import printable
from npp_env.level.files import read_json
from npp_env.level.validation import shorten
from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.profile import PROFILE_FORMAT, PROFILE_VERSION

MAX_PROFILE_BYTES = 64 << 20
MAX_NUMBER = 1e18


@dataclass(frozen=True, slots=True)
class ProfileFigures:
    """What two profiles are compared by; None where a profile lacks a number.

    Attributes:
        final_bytes: Memory at the end of the run.
        slope_per_1k: Growth in bytes per 1,000 steps.
        steps_per_second: Speed.
        named_bytes: Bytes that owners named at the end.
        owners: Those bytes by owner.
    """

    final_bytes: float | None
    slope_per_1k: float | None
    steps_per_second: float | None
    named_bytes: float | None
    owners: dict[str, int]

    @classmethod
    def from_dict(cls, profile: Mapping[str, Any]) -> ProfileFigures:
        """Read them from the content of a `memory.json`.

        Raises:
            ProfilingError: A part of it is not what such a file holds.
        """
        summary, report = _section(profile, "summary"), _section(profile, "owners")
        owners = _section(report, "owners")
        return cls(
            final_bytes=_number(summary, "final_bytes"),
            slope_per_1k=_number(summary, "slope_per_1k"),
            steps_per_second=_number(summary, "steps_per_second"),
            named_bytes=_number(report, "total_bytes"),
            owners={name: _owner_bytes(_section(owners, name)) for name in owners},
        )


@dataclass(frozen=True, slots=True)
class OwnerChange:
    """Bytes of one owner in both profiles."""

    owner: str
    before_bytes: int
    after_bytes: int

    @property
    def change_bytes(self) -> int:
        """After minus before."""
        return self.after_bytes - self.before_bytes


@dataclass(frozen=True, slots=True)
class Measure:
    """One number in both profiles; None where a profile lacks it."""

    name: str
    unit: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Owners, the largest change first, and the measures of the whole run."""

    owners: tuple[OwnerChange, ...]
    measures: tuple[Measure, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        owners = [{**asdict(owner), "change_bytes": owner.change_bytes} for owner in self.owners]
        return {"owners": owners, "measures": [asdict(measure) for measure in self.measures]}

    def to_text(self) -> str:
        """Two tables: the run as a whole, and the owners."""
        lines = [f"{'measure':<32} {'before':>14} {'after':>14} {'change':>10}"]
        for measure in self.measures:
            label = f"{measure.name} ({measure.unit})"
            before, after = measure.before, measure.after
            percent = f"{(after - before) / abs(before):+.1%}" if before and after is not None else "-"
            lines.append(f"{label:<32} {_cell(before):>14} {_cell(after):>14} {percent:>10}")
        lines += ["", f"{'owner':<32} {'before KB':>14} {'after KB':>14} {'change KB':>10}"]
        for owner in self.owners:
            kilobytes = (owner.before_bytes / 1024, owner.after_bytes / 1024, owner.change_bytes / 1024)
            lines.append(
                f"{printable(owner.owner):<32} {kilobytes[0]:>14,.1f} {kilobytes[1]:>14,.1f} {kilobytes[2]:>+10,.1f}"
            )
        if not self.owners:
            lines.append("(neither profile names owners)")
        return "\n".join(lines)


def compare(before: ProfileFigures, after: ProfileFigures) -> Comparison:
    """Compare two profiles."""
    names = {**before.owners, **after.owners}
    owners = [OwnerChange(name, before.owners.get(name, 0), after.owners.get(name, 0)) for name in names]
    owners.sort(key=lambda owner: (-abs(owner.change_bytes), -owner.after_bytes, owner.owner))
    measures = (
        Measure("memory at the end", "bytes", before.final_bytes, after.final_bytes),
        Measure("growth per 1,000 steps", "bytes", before.slope_per_1k, after.slope_per_1k),
        Measure("steps per second", "1/s", before.steps_per_second, after.steps_per_second),
        Measure("bytes named by owners", "bytes", before.named_bytes, after.named_bytes),
    )
    return Comparison(tuple(owners), measures)


def load_profile(path: Path) -> ProfileFigures:
    """Read from a `memory.json` what a later profile can be compared with.

    Raises:
        ProfilingError: It is not one.
    """
    data = read_json(path, MAX_PROFILE_BYTES, ProfilingError)
    if not isinstance(data, dict) or data.get("format") != PROFILE_FORMAT:
        raise ProfilingError(f"{path}: not a memory.json of npp_env")
    if data.get("version") != PROFILE_VERSION:
        raise ProfilingError(f"{path}: version {shorten(data.get('version'))}, this npp_env reads {PROFILE_VERSION}")
    try:
        return ProfileFigures.from_dict(data)
    except ProfilingError as error:
        raise ProfilingError(f"{path}: {error}") from None


def _section(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a profile; empty if it is missing."""
    section = values.get(name)
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise ProfilingError(f"{shorten(name)} is {shorten(section)}; it must be an object with names and values")
    return section


def _number(values: Mapping[str, Any], name: str) -> float | None:
    """A number of a profile, None if it is missing."""
    value = values.get(name)
    if value is None:
        return None
    # Compared before it is converted: a whole number in JSON may be too large for that.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < MAX_NUMBER:
        raise ProfilingError(
            f"{name} is {shorten(value)}; it must be a number between -{MAX_NUMBER:g} and {MAX_NUMBER:g}"
        )
    return float(value)


def _owner_bytes(sizes: Mapping[str, Any]) -> int:
    return int((_number(sizes, "private_bytes") or 0) + (_number(sizes, "shared_bytes") or 0))


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"
