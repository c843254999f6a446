"""Charts as inline SVG text, drawn without any library."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 760, 250
LEFT, RIGHT, TOP, BOTTOM = 96, 40, 16, 58
# Curves that coincide are told apart: those below are wider, and those above have gaps.
DASHES = ("", "18 10", "5 9", "24 8 4 8", "12 12", "3 6", "16 4")
PALETTE = ("#2f6fb5", "#d9822b", "#3a9a6a", "#a8519a", "#c4454d", "#5b7a8c", "#8c7a2e", "#6b5bb5", "#999999")


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: values over steps, None where there is none."""

    name: str
    steps: Sequence[float]
    values: Sequence[float | None]
    color: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where data coordinates lie in the picture."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        return LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (value - self.y_low) / (self.y_high - self.y_low) * (HEIGHT - TOP - BOTTOM)


def line_chart(series: Sequence[Series], *, unit: str, from_zero: bool = False) -> str:
    """Curves over steps, with axes, a legend and values under the pointer."""
    drawn = [s for s in series if any(value is not None for value in s.values)]
    if not drawn:
        return _empty("nothing was measured")
    frame = _frame_of(drawn, from_zero)
    parts = [_axes(frame, unit)]
    for number, curve in enumerate(drawn):
        pattern = "7 5" if curve.dashed else DASHES[number % len(DASHES)]
        dash = f' stroke-dasharray="{pattern}"' if pattern else ""
        width = 2 if curve.dashed else 2.5 + 1.5 * max(len(drawn) - 1 - number, 0)
        # A skipped reading does not interrupt the line.
        pairs = zip(curve.steps, curve.values, strict=True)
        points = [(frame.x(step), frame.y(value)) for step, value in pairs if value is not None]
        if len(points) == 1:
            x, y = points[0]
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{curve.color}"/>')
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{curve.color}" stroke-width="{width:g}"'
                f' stroke-linejoin="round"{dash}/>'
            )
    return _picture("".join(parts), drawn, frame, unit)


def stacked_chart(steps: Sequence[float], layers: Sequence[tuple[str, Sequence[float]]], *, unit: str) -> str:
    """Areas on top of each other; the first layer lies at the bottom."""
    if not layers or not steps:
        return _empty("no owner reported its bytes")
    if len(steps) == 1:
        steps, layers = [steps[0], steps[0] + 1], [(name, [values[0]] * 2) for name, values in layers]
    below = [0.0] * len(steps)
    areas, curves = [], []
    for index, (name, values) in enumerate(layers):
        above = [low + value for low, value in zip(below, values, strict=True)]
        areas.append((below, above, PALETTE[index % len(PALETTE)]))
        curves.append(Series(name, steps, list(values), PALETTE[index % len(PALETTE)]))
        below = above
    frame = _Frame(steps[0], _beyond(steps[0], steps[-1]), 0.0, max(max(below) * 1.08, 1e-9))
    parts = [_axes(frame, unit)]
    for lower, upper, color in areas:
        there = [f"{frame.x(s):.1f},{frame.y(v):.1f}" for s, v in zip(steps, upper, strict=True)]
        back = [f"{frame.x(s):.1f},{frame.y(v):.1f}" for s, v in zip(steps, lower, strict=True)][::-1]
        parts.append(f'<polygon points="{" ".join(there + back)}" fill="{color}" fill-opacity="0.85"/>')
    return _picture("".join(parts), curves, frame, unit)


def paired_bars(rows: Sequence[tuple[str, float, float]], *, unit: str) -> str:
    """Two horizontal bars for each row: before and after."""
    if not rows:
        return _empty("nothing to compare")
    height = 34 * len(rows) + 30
    label_width, value_width = 190, 90
    largest = max(max(before, after) for _, before, after in rows) or 1.0
    scale = (WIDTH - label_width - value_width) / largest
    parts = []
    for index, (name, before, after) in enumerate(rows):
        top = 26 + 34 * index
        parts.append(f'<text x="{label_width - 8}" y="{top + 17}" text-anchor="end">{_escape(name, 28)}</text>')
        for offset, value, color in ((0, before, "#b9c4cf"), (13, after, PALETTE[0])):
            width = max(1.0, value * scale)
            parts.append(
                f'<rect x="{label_width}" y="{top + offset}" width="{width:.1f}" height="11" fill="{color}"/>'
                f'<text x="{label_width + width + 5:.1f}" y="{top + offset + 9}" class="small">'
                f"{_number(value)} {unit}</text>"
            )
    legend = (
        f'<rect x="{label_width}" y="6" width="11" height="11" fill="#b9c4cf"/>'
        f'<text x="{label_width + 16}" y="16">before</text>'
        f'<rect x="{label_width + 76}" y="6" width="11" height="11" fill="{PALETTE[0]}"/>'
        f'<text x="{label_width + 92}" y="16">after</text>'
    )
    body = legend + "".join(parts)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img">{body}</svg>'


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that divide an interval.

    Example:
        >>> nice_ticks(0, 1000)
        [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.8)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def _frame_of(series: Sequence[Series], from_zero: bool) -> _Frame:
    values = [value for curve in series for value in curve.values if value is not None]
    steps = [step for curve in series for step in curve.steps]
    low, high = min(values), max(values)
    if from_zero:
        low = min(0.0, low)
    # A flat curve should look flat: never zoom into less than a thousandth of a megabyte or step.
    margin = max((high - low) * 0.08, 1e-3)
    return _Frame(min(steps), _beyond(min(steps), max(steps)), low if from_zero else low - margin, high + margin)


def _beyond(low: float, high: float) -> float:
    return high if high > low else low + 1.0


def _axes(frame: _Frame, unit: str) -> str:
    parts = []
    ticks = nice_ticks(frame.y_low, frame.y_high)
    decimals = _decimals(ticks)
    for tick in ticks:
        y = frame.y(tick)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y + 6:.1f}" text-anchor="end">{tick:,.{decimals}f}</text>')
    for tick in nice_ticks(frame.x_low, frame.x_high, 5):
        x = frame.x(tick)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 24}" text-anchor="middle">{tick:,.0f}</text>')
    base = HEIGHT - BOTTOM
    parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" class="axis"/>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end" class="small">step</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 4}" class="small">{html.escape(unit)}</text>')
    return "".join(parts)


def _picture(body: str, series: Sequence[Series], frame: _Frame, unit: str) -> str:
    legend = "".join(
        f'<span><i style="background:{curve.color}{";opacity:.6" if curve.dashed else ""}"></i>'
        f"{html.escape(curve.name)}</span>"
        for curve in series
    )
    data = {
        "unit": unit,
        "x": [frame.x_low, frame.x_high, LEFT, WIDTH - RIGHT],
        "series": [
            {
                "name": curve.name,
                "steps": [round(step, 3) for step in curve.steps],
                "values": [None if value is None else round(value, 4) for value in curve.values],
            }
            for curve in series
        ],
    }
    cursor = f'<line class="cursor" x1="0" x2="0" y1="{TOP}" y2="{HEIGHT - BOTTOM}" visibility="hidden"/>'
    return (
        f'<div class="plot" data-chart="{html.escape(json.dumps(data), quote=True)}">'
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{body}{cursor}</svg>'
        f'<div class="legend">{legend}</div><div class="tip" hidden></div></div>'
    )


def _empty(text: str) -> str:
    return f'<p class="empty">{html.escape(text)}</p>'


def _decimals(ticks: Sequence[float]) -> int:
    """Fewest decimals that show every tick exactly."""
    exact = (d for d in range(5) if all(abs(round(tick, d) - tick) < 1e-9 for tick in ticks))
    return next(exact, 4)


def _number(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}"


def _escape(text: str, limit: int) -> str:
    return html.escape(text if len(text) <= limit else text[: limit - 1] + "…")
