"""The HTML report: one file, charts inline, nothing fetched."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from npp_env.profiling.allocation_sites import AllocationSite
from npp_env.profiling.charts import PALETTE, Series, line_chart, paired_bars, stacked_chart
from npp_env.profiling.compare import Comparison
from npp_env.profiling.growth import Verdict
from npp_env.profiling.phases import PhaseReport
from npp_env.profiling.process_memory import MEBIBYTE
from npp_env.profiling.profile import Profile
from npp_env.profiling.report import COLUMN_TITLES, chosen_rows
from npp_env.profiling.report_style import SCRIPT, STYLE
from npp_env.runtime.memory import MemoryReport

CURVES = ("uss_bytes", "rss_bytes", "pss_bytes", "heap_bytes", "traced_bytes", "cuda_allocated_bytes", "cpu_bytes")
MAX_LAYERS = 8
SHARED_NOTE = "compiled levels: one copy for all environments of the process, and of the host where they are in files"
VERDICT_NOTES = {
    Verdict.FLAT: "nothing grows",
    Verdict.GROWING: "memory grows with the steps",
    Verdict.UNDECIDED: "too few or too noisy samples to tell",
}


def format_html(profile: Profile, comparison: Comparison | None = None) -> str:
    """The whole page."""
    verdict = profile.summary.verdict
    title = html.escape(profile.label or "memory profile")
    sections = [
        f'<header><div><h1>{title}</h1><p class="sub">{html.escape(profile.environment)}</p></div>'
        f'<div class="chip {verdict}"><b>{verdict}</b>{VERDICT_NOTES[verdict]}</div></header>',
        _cards(profile),
        '<div class="grid2">',
        _panel("Growth over the run", _memory_chart(profile), _fit_text(profile)),
        _panel("Its own bytes, by owner", _owner_chart(profile, shared=False), "what no other environment holds"),
        _panel("Steps per second", _speed_chart(profile), html.escape(profile.speed_text)),
        _panel("Shared bytes, by owner", _owner_chart(profile, shared=True), SHARED_NOTE),
        _panel("Owners at the end", _owner_table(profile.owners), ""),
        _panel("Cost of the tracker", _tracker_text(profile), ""),
        "</div>",
    ]
    if comparison is not None:
        sections.append(_panel("Before against after", _comparison(comparison), ""))
    if profile.phases is not None:
        sections.append(_panel("Growth by phase", _phase_table(profile.phases), ""))
    sections.append(_panel("Allocation sites that grew most", _site_table(profile.allocation_sites), ""))
    sections.append(_details("All samples", _sample_table(profile.samples)))
    body = "\n".join(sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{title}: {verdict}</title><style>{STYLE}</style></head>\n'
        f"<body><main>{body}</main><script>{SCRIPT}</script></body></html>\n"
    )


def _cards(profile: Profile) -> str:
    summary = profile.summary
    deciding = _deciding_column(profile)
    fit = profile.growth[deciding]
    interval = (
        f"98 %: {fit.low_per_1k / 1024:+,.1f} to {fit.high_per_1k / 1024:+,.1f} KB"
        if math.isfinite(fit.low_per_1k)
        else "interval unknown"
    )
    cards = [
        (
            f"{COLUMN_TITLES[summary.memory_column]} at the end",
            f"{summary.final_bytes / MEBIBYTE:,.1f} MB",
            f"{summary.first_bytes / MEBIBYTE:,.1f} MB at the start",
        ),
        (f"{COLUMN_TITLES[deciding]} per 1,000 steps", f"{fit.slope_per_1k / 1024:+,.1f} KB", interval),
        ("Steps per second", f"{summary.steps_per_second:,.0f}", f"{summary.steps:,} steps"),
        ("Named by owners", f"{profile.owners.total_bytes / MEBIBYTE:,.2f} MB", "private and shared")
        if profile.owners is not None
        else ("Samples", str(len(profile.samples["step"])), ""),
        (
            "Cost of the tracker",
            f"{profile.tracker.cost_fraction:.2%}",
            f"under {' and '.join(profile.tools)}" if profile.tools else "nothing else ran",
        ),
    ]
    boxes = "".join(
        f'<div class="card"><span>{html.escape(name)}</span><b>{html.escape(value)}</b>'
        f"<small>{html.escape(note)}</small></div>"
        for name, value, note in cards
    )
    return f'<div class="cards">{boxes}</div>'


def _fit_text(profile: Profile) -> str:
    lines = [f"<b>{COLUMN_TITLES[name]}</b> {html.escape(fit.to_text())}" for name, fit in profile.growth.items()]
    return "<br>".join(lines)


def _memory_chart(profile: Profile) -> str:
    """Changes of all columns against the end of the warm-up, so that growth shows whatever the level."""
    samples = profile.samples
    steps = _steps(samples)
    column = _deciding_column(profile)
    fit = profile.growth[column]
    start = next((index for index, step in enumerate(steps) if step >= fit.first_step), 0)
    curves = []
    for index, name in enumerate(CURVES):
        if name in samples:
            level = _known_from(samples[name], start)
            values = [None if value is None else (value - level) / MEBIBYTE for value in samples[name]]
            curves.append(Series(COLUMN_TITLES[name], steps, values, PALETTE[index]))
    if fit.samples_used > 1:
        level = _known_from(samples[column], start)
        ends = [fit.first_step, fit.last_step]
        line = [(fit.intercept + fit.slope_per_1k / 1000 * step - level) / MEBIBYTE for step in ends]
        curves.append(Series(f"fit of {COLUMN_TITLES[column]}", ends, line, "#111111", dashed=True))
    return line_chart(curves, unit="MB of change")


def _deciding_column(profile: Profile) -> str:
    """The column that the verdict of the whole rests on."""
    agreeing = (name for name, fit in profile.growth.items() if fit.verdict is profile.summary.verdict)
    return next(agreeing, profile.summary.memory_column)


def _steps(samples: Mapping[str, Sequence[float | None]]) -> list[float]:
    return [step or 0 for step in samples["step"]]


def _known_from(values: Sequence[float | None], start: int) -> float:
    return next((value for value in (*values[start:], *values) if value is not None), 0.0)


def _speed_chart(profile: Profile) -> str:
    speeds = profile.samples.get("steps_per_second")
    curves = [Series("steps per second", _steps(profile.samples), speeds, PALETTE[2])] if speeds else []
    return line_chart(curves, unit="steps/s", from_zero=True)


def _owner_chart(profile: Profile, *, shared: bool) -> str:
    """The bytes of the owners that share all they hold, or of the others."""
    totals = profile.owners.by_owner() if profile.owners is not None else {}
    common = {name for name, total in totals.items() if total.private_bytes == 0 and total.shared_bytes > 0}
    chosen = {name: values for name, values in profile.owner_history.owners.items() if (name in common) == shared}
    ranked = sorted(chosen.items(), key=lambda item: -max(item[1], default=0))
    divisor, unit = (
        (MEBIBYTE, "MB") if max((max(v, default=0) for v in chosen.values()), default=0) > MEBIBYTE else (1024, "KB")
    )
    layers = [(name, [value / divisor for value in values]) for name, values in ranked[:MAX_LAYERS]]
    rest = [values for _, values in ranked[MAX_LAYERS:]]
    if rest:
        layers.append((f"{len(rest)} others", [sum(column) / divisor for column in zip(*rest, strict=True)]))
    return stacked_chart(profile.owner_history.step, layers, unit=unit)


def _tracker_text(profile: Profile) -> str:
    """What the measuring itself took, and why."""
    count = len(profile.samples["step"])
    tools = " and ".join(profile.tools)
    slower = f" {html.escape(tools)} slowed the program down as well." if tools else ""
    return (
        f"<p>{profile.tracker.cost_seconds:.2f} s for {count} snapshots, {profile.tracker.cost_fraction:.1%} of the "
        f"run. A profile takes every snapshot that was asked for, in full: it reads the pages of the whole process and "
        f"asks every owner.{slower} In a training loop the tracker spaces its snapshots, and stays below 2 %.</p>"
    )


def _owner_table(report: MemoryReport | None) -> str:
    if report is None:
        return '<p class="empty">no owners were asked</p>'
    rows = [
        (name, _kilobytes(total.private_bytes), _kilobytes(total.shared_bytes))
        for name, total in report.by_owner().items()
    ]
    rows.append(("total", _kilobytes(report.private_bytes), _kilobytes(report.shared_bytes)))
    return f'<div class="scroll">{_table(("owner", "private KB", "shared KB"), rows)}</div>'


def _phase_table(report: PhaseReport) -> str:
    rows = [
        (p.name, _kilobytes(p.net_bytes, 2), _kilobytes(p.charged_bytes, 2), f"{p.share:.0%}") for p in report.phases
    ]
    culprit = report.culprit
    note = f"the baseline ratchets up in <b>{html.escape(culprit)}</b>" if culprit else "no phase is charged"
    return f"<p>{note}</p>" + _table(("phase", "net KB per iteration", "charged KB per iteration", "share"), rows)


def _site_table(sites: Sequence[AllocationSite]) -> str:
    if not sites:
        return '<p class="empty">Python allocations were not traced, or none grew</p>'
    rows = [(s.site, f"{s.growth_bytes / 1024:+,.1f}", f"{s.growth_count:+,}", _kilobytes(s.bytes)) for s in sites]
    return _table(("site", "growth KB", "blocks", "now KB"), rows)


def _sample_table(samples: Mapping[str, Sequence[float | None]]) -> str:
    names = [name for name in COLUMN_TITLES if name in samples]
    rows = []
    for index in chosen_rows(len(samples["step"]), limit=200):
        values = [samples[name][index] for name in names]
        cells = ["–" if value is None else f"{value / MEBIBYTE:,.3f}" for value in values]
        rows.append((f"{samples['step'][index] or 0:,.0f}", *cells))
    return _table(("step", *(f"{COLUMN_TITLES[name]} MB" for name in names)), rows)


def _comparison(comparison: Comparison) -> str:
    bars = paired_bars(
        [(o.owner, o.before_bytes / 1024, o.after_bytes / 1024) for o in comparison.owners[:12]], unit="KB"
    )
    return f'<div class="grid2 inner"><div>{bars}</div><pre>{html.escape(comparison.to_text())}</pre></div>'


def _kilobytes(value: float, decimals: int = 1) -> str:
    return f"{value / 1024:,.{decimals}f}"


def _panel(title: str, body: str, note: str) -> str:
    foot = f'<p class="note">{note}</p>' if note else ""
    return f"<section><h2>{html.escape(title)}</h2>{body}{foot}</section>"


def _details(title: str, body: str) -> str:
    return f'<details><summary>{html.escape(title)}</summary><div class="scroll tall">{body}</div></details>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
