"""An evaluation as a table for people, 80 columns wide."""

from __future__ import annotations

from npp_env.errors import printable
from npp_env.evaluation.intervals import Estimate
from npp_env.evaluation.scores import Evaluation, Summary

NAME_WIDTH = 26
UNKNOWN = "-"


def format_share(estimate: Estimate) -> str:
    """A share in percent, with its interval.

    Example:
        >>> format_share(Estimate(0.8, 0.49, 0.943, 10))
        ' 80 % (49-94)'
    """
    if estimate.mean is None or estimate.low is None or estimate.high is None:
        return UNKNOWN
    return f"{100 * estimate.mean:3.0f} % ({100 * estimate.low:.0f}-{100 * estimate.high:.0f})"


def format_mean(estimate: Estimate, digits: int, sign: str = "") -> str:
    """A mean, and half the width of its interval where there is one.

    Example:
        >>> format_mean(Estimate(412.3, 396.0, 428.0, 20), 0)
        '412 ±16'
    """
    if estimate.mean is None:
        return UNKNOWN
    text = f"{estimate.mean:{sign}.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ±{(estimate.high - estimate.low) / 2:.{digits}f}"


def format_table(evaluation: Evaluation) -> str:
    """A line for each level, for each group, and for all."""
    total = evaluation.total
    rows = [
        _cells(level.name, evaluation.of_level(number), f"/{level.gold}")
        for number, level in enumerate(evaluation.levels)
    ]
    groups = [_cells(group, evaluation.of_group(group)) for group in evaluation.groups]
    header = ("level", "success", "frames", "gold", "return")
    sections = [rows, groups if len(groups) > 1 else [], [_cells("all", total)] if len(rows) > 1 else []]
    widths = [max(len(row[k]) for row in [header, *rows, *groups]) for k in range(len(header))]
    lines = [_line(header, widths)]
    for section in sections:
        if section:
            lines.append("-" * len(lines[0]))
            lines += [_line(row, widths) for row in section]
    return "\n".join([*lines, "", *_notes(evaluation)])


def _cells(name: str, summary: Summary, gold_total: str = "") -> tuple[str, ...]:
    shown = printable(name)
    return (
        shown if len(shown) <= NAME_WIDTH else f"…{shown[1 - NAME_WIDTH :]}",
        format_share(summary.success),
        format_mean(summary.frames, 0),
        format_mean(summary.gold, 1) + gold_total,
        format_mean(summary.episode_return, 2, "+"),
    )


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *others = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([first, *(cell.rstrip().rjust(len(cell)) for cell in others)])


def _notes(evaluation: Evaluation) -> list[str]:
    each = int(evaluation.settings.get("episodes_per_level", 1))
    total = evaluation.total
    lines = [
        f"{total.episodes} episodes of {printable(evaluation.policy)}: {total.won} won, {total.died} died, "
        f"{total.out_of_time} out of time",
        "95 % intervals; frames are those of the wins",
    ]
    if each == 1 and evaluation.settings.get("deterministic"):
        lines.append("the policy leaves nothing to chance: one episode on each level (--idle-steps varies the starts)")
    return lines
