"""Results as a table, as JSON, and as a verdict."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from .campaign import CAUGHT, INVALID, SURVIVED, Result

MOST_SURVIVING = 0.02
HEADINGS = ("", "name", "source", "kind", "caught by", "build s", "test s")


def unexpected(results: list[Result]) -> list[Result]:
    """The faults that no test noticed although they can be seen."""
    return [result for result in results if result.verdict == SURVIVED and not result.invisible]


def unmasked(results: list[Result]) -> list[Result]:
    """The faults that are called invisible, but were seen."""
    return [result for result in results if result.verdict == CAUGHT and result.invisible]


def is_good(results: list[Result], whole: bool) -> bool:
    """Whether nothing survived but what is explained, and in a run of the whole catalogue hardly any of that."""
    if unexpected(results) or any(result.verdict == INVALID for result in results):
        return False
    survived = sum(result.verdict == SURVIVED for result in results)
    return not whole or survived <= MOST_SURVIVING * len(results)


def _outcome(result: Result) -> str:
    if result.verdict == CAUGHT:
        return result.by
    if result.verdict == INVALID:
        return f"INVALID: {result.by}"
    return f"survived: {result.invisible}" if result.invisible else "SURVIVED"


def format_table(results: list[Result]) -> str:
    """A line per fault."""
    rows = [HEADINGS] + [
        (
            str(number),
            result.name,
            f"{result.source}:{result.line}",
            result.kind,
            _outcome(result),
            f"{result.build_seconds:.1f}",
            f"{result.test_seconds:.1f}",
        )
        for number, result in enumerate(results, 1)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def format_summary(results: list[Result]) -> str:
    """Counts by area and in all, and what is to be done."""
    lines = []
    for area in sorted({result.area for result in results}):
        part = [result for result in results if result.area == area]
        lines.append(f"{area}: {_counts(part)}")
    build = sum(result.build_seconds for result in results if result.modules)
    built = sum(result.modules > 0 for result in results)
    tested = sum(result.test_seconds for result in results)
    lines.append(f"all: {_counts(results)}")
    lines.append(f"mean seconds: build {build / max(built, 1):.1f}, tests {tested / max(len(results), 1):.1f}")
    lines += [f"called invisible, but caught by {result.by}: {result.name}" for result in unmasked(results)]
    return "\n".join(lines)


def _counts(results: list[Result]) -> str:
    counts = Counter(result.verdict for result in results)
    explained = sum(result.verdict == SURVIVED and bool(result.invisible) for result in results)
    text = f"{len(results)} planted, {counts[CAUGHT]} caught, {counts[SURVIVED]} survived"
    if explained:
        text += f" ({explained} of them explained)"
    return text + (f", {counts[INVALID]} invalid" if counts[INVALID] else "")


def to_json(results: list[Result], seed: int) -> str:
    """Everything, for programs."""
    return json.dumps({"seed": seed, "results": [asdict(result) for result in results]}, indent=1) + "\n"
