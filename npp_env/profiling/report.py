"""The text report of a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from npp_env.profiling.allocation_sites import AllocationSite
from npp_env.profiling.compare import Comparison
from npp_env.profiling.process_memory import MEBIBYTE
from npp_env.profiling.profile import Profile
from npp_env.runtime.memory import MemoryReport

MAX_TABLE_ROWS = 40
COLUMN_TITLES = {
    "rss_bytes": "RSS",
    "uss_bytes": "USS",
    "pss_bytes": "PSS",
    "traced_bytes": "Python traced",
    "heap_bytes": "C heap in use",
    "cpu_bytes": "CPU tensors",
    "cuda_allocated_bytes": "CUDA allocated",
    "cuda_reserved_bytes": "CUDA reserved",
}


def format_report(profile: Profile, comparison: Comparison | None = None) -> str:
    """The whole text report: summary, verdict, growth table, allocation sites, owners, phases."""
    sections = [
        ("Summary", _summary(profile)),
        ("Leak verdict", _verdicts(profile)),
        ("Growth table", growth_table(profile.samples)),
        ("Top allocation sites between the first and the last snapshot", _sites(profile.allocation_sites)),
        ("Bytes by owner", _owners(profile.owners)),
    ]
    if profile.phases is not None:
        sections.append(("Growth by phase", profile.phases.to_text()))
    if comparison is not None:
        sections.append(("Before against after", comparison.to_text()))
    blocks = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections]
    return "npp_env memory profile\n======================\n\n" + "\n\n".join(blocks) + "\n"


def growth_table(samples: Mapping[str, Sequence[float | None]]) -> str:
    """Steps and memory columns in MB, at most `MAX_TABLE_ROWS` evenly chosen rows."""
    names = [name for name in COLUMN_TITLES if name in samples]
    header = f"{'step':>12} " + " ".join(f"{COLUMN_TITLES[name] + ' MB':>18}" for name in names)
    lines = [header + f" {'steps/s':>12}"]
    speeds = samples.get("steps_per_second") or [None] * len(samples["step"])
    for index in chosen_rows(len(samples["step"])):
        cells = " ".join(f"{_megabytes(samples[name][index]):>18}" for name in names)
        speed = speeds[index]
        shown_speed = "-" if speed is None else f"{speed:,.0f}"
        lines.append(f"{samples['step'][index] or 0:>12,.0f} {cells} {shown_speed:>12}")
    return "\n".join(lines)


def chosen_rows(count: int, limit: int = MAX_TABLE_ROWS) -> list[int]:
    """Indices of at most `limit` rows, the first and the last among them.

    Example:
        >>> chosen_rows(5), chosen_rows(9, limit=3)
        ([0, 1, 2, 3, 4], [0, 4, 8])
    """
    if count <= limit:
        return list(range(count))
    return sorted({round(index * (count - 1) / (limit - 1)) for index in range(limit)})


def _summary(profile: Profile) -> str:
    summary = profile.summary
    lines = [
        f"verdict              {summary.verdict}",
        f"steps                {summary.steps:,}  ({summary.seconds:.2f} s)",
        f"steps per second     {summary.steps_per_second:,.0f}",
        f"memory measured by   {COLUMN_TITLES[summary.memory_column]}",
        f"at the start         {_megabytes(summary.first_bytes)} MB",
        f"at the end           {_megabytes(summary.final_bytes)} MB",
        f"growth               {summary.slope_per_1k / 1024:+.2f} KB per 1,000 steps",
        f"samples              {len(profile.samples['step'])}",
        f"cost of the tracker  {profile.tracker.cost_seconds * 1000:.1f} ms "
        f"({profile.tracker.cost_fraction:.2%} of the run)",
    ]
    if profile.tools:
        lines.append(f"note                 measured under {' and '.join(profile.tools)}: slower than without")
    return "\n".join(lines)


def _verdicts(profile: Profile) -> str:
    lines = [f"{COLUMN_TITLES[name]:<16} {fit.to_text()}" for name, fit in profile.growth.items()]
    return "\n".join([*lines, f"{'speed':<16} {profile.speed_text}"])


def _sites(sites: Sequence[AllocationSite]) -> str:
    if not sites:
        return "(none; Python allocations were not traced or did not grow)"
    lines = [f"{'growth KB':>12} {'blocks':>9} {'now KB':>12}  site"]
    lines += [
        f"{site.growth_bytes / 1024:>+12.1f} {site.growth_count:>+9} {site.bytes / 1024:>12.1f}  {site.site}"
        for site in sites
    ]
    return "\n".join(lines)


def _owners(report: MemoryReport | None) -> str:
    if report is None:
        return "(no owners were asked)"
    lines = [f"{'owner':<28} {'private':>14} {'shared':>14}"]
    lines += [
        f"{name:<28} {total.private_bytes:>14,} {total.shared_bytes:>14,}" for name, total in report.by_owner().items()
    ]
    lines.append(f"{'total':<28} {report.private_bytes:>14,} {report.shared_bytes:>14,}")
    lines += ["", f"{'owner':<28} {'holding':<28} {'bytes':>14}  kind"]
    lines += [
        f"{h.owner:<28} {h.name:<28} {h.bytes:>14,}  {'shared' if h.shared else 'private'}"
        for h in sorted(report.holdings, key=lambda holding: (holding.owner, -holding.bytes))
    ]
    return "\n".join(lines)


def _megabytes(value: float | None) -> str:
    return "-" if value is None else f"{value / MEBIBYTE:,.3f}"
