"""One page that shows runs in a browser: everything is in the file, and nothing is fetched."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.evaluation.film import figure_lines, film
from npp_env.evaluation.scores import Evaluation
from npp_env.evaluation.viewer_controls_js import SCRIPT as CONTROLS
from npp_env.evaluation.viewer_film_js import SCRIPT as FILMS
from npp_env.evaluation.viewer_panes_js import SCRIPT as PANES
from npp_env.evaluation.viewer_style import BODY, STYLE
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.recording import Recording
from npp_env.render import palette
from npp_env.render.drawing import DrawingPen
from npp_env.render.opencv import load_cv2
from npp_env.render.outlines import draw_outlines
from npp_env.render.picture import build_rgb_tiles
from npp_env.render.tile_coverage import TILE_PX
from npp_env.sim.geometry import full_tiles

_FULL_TILE = 1
_SHARP = 2
"""Tiles are drawn this much larger than the world, for screens with fine pixels."""


@dataclass(frozen=True, slots=True)
class Run:
    """A recording to show.

    Attributes:
        name: What to call it.
        recording: With its level.
        level_name: What to call the level; by default its own name.
    """

    name: str
    recording: Recording
    level_name: str = ""


def page(
    runs: Sequence[Run],
    title: str = "npp_env",
    evaluation: Evaluation | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """The page of some runs, grouped by level.

    Args:
        runs: At least one.
        title: What the page is called.
        evaluation: Scores to show below, and beside the levels.
        progress: Called with the runs that are done, and with how many there are.

    Raises:
        RecordingError: There is no run, one holds no level, or is too long.
    """
    if not runs:
        raise RecordingError("there is no run to show; name at least one recording")
    levels: dict[str, dict[str, Any]] = {}
    shown = []
    for done, run in enumerate(runs):
        shown.append(_run_data(run, levels))
        if progress is not None:
            progress(done + 1, len(runs))
    if evaluation is not None:
        _add_scores(levels, evaluation)
    order = sorted(levels.values(), key=lambda level: (level["group"], level["number"]))
    numbers = {level["number"]: place for place, level in enumerate(order)}
    data = {
        "figure": figure_lines(),
        "wall": "#{:02x}{:02x}{:02x}".format(*palette.WALL),
        "levels": order,
        "runs": [{**run, "level": numbers[run["level"]]} for run in shown],
        "evaluation": None if evaluation is None else _totals(evaluation),
    }
    subtitle = evaluation.policy if evaluation is not None else f"{len(runs)} run{'s' if len(runs) > 1 else ''}"
    return _document(title, subtitle, data)


def _run_data(run: Run, levels: dict[str, dict[str, Any]]) -> dict[str, Any]:
    level = run.recording.level
    if level is None:
        raise RecordingError(f"{run.name}: the level is not in the recording; give it one that is")
    try:
        played = film(run.recording)
    except RecordingError as error:
        raise RecordingError(f"{run.name}: {error}") from error
    if level.hash not in levels:
        levels[level.hash] = _level_data(level, run.level_name, len(levels))
    return {
        "name": run.name,
        "level": levels[level.hash]["number"],
        "outcome": played.outcome,
        "frames": played.frames,
        "gold": int(played.gold[-1]),
        "layers": played.layers,
        "data": base64.b64encode(played.pack()).decode(),
    }


def _level_data(level: Level, name: str, number: int) -> dict[str, Any]:
    full = name or level.name or level.hash[:8]
    pen = DrawingPen()
    draw_outlines(pen, level)
    return {
        "number": number,
        "hash": level.hash,
        "name": full,
        "title": level.name or full,
        "group": str(level.metadata.get("group", "")),
        "gold": int((level.records[:, 0] == EntityKind.GOLD).sum()),
        "marks": pen.marks,
        "box": _box(level),
        "background": _png(build_rgb_tiles(level, _SHARP * TILE_PX)),
    }


def _box(level: Level) -> list[int]:
    """Left, top, right and bottom of all that is not solid, with a margin of a tile, in pixels."""
    rows, columns = np.nonzero(full_tiles(level).T != _FULL_TILE)
    if not len(rows):
        return [0, 0, 44 * TILE_PX, 25 * TILE_PX]
    ends = (columns.min() - 1, rows.min() - 1, columns.max() + 2, rows.max() + 2)
    most = (43, 24, 44, 25)
    return [TILE_PX * int(min(max(end, 0), high)) for end, high in zip(ends, most, strict=True)]


def _png(picture: NDArray[np.uint8]) -> str:
    cv2 = load_cv2()
    _, data = cv2.imencode(".png", picture[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
    return "data:image/png;base64," + base64.b64encode(data.tobytes()).decode()


def _add_scores(levels: dict[str, dict[str, Any]], evaluation: Evaluation) -> None:
    for number, info in enumerate(evaluation.levels):
        if info.hash in levels:
            score = evaluation.of_level(number).to_dict()
            levels[info.hash] |= {"score": score, "name": info.name, "group": info.group}


def _totals(evaluation: Evaluation) -> dict[str, Any]:
    groups = {group: evaluation.of_group(group).to_dict() for group in evaluation.groups}
    return {"total": evaluation.total.to_dict(), "groups": groups}


def _document(title: str, subtitle: str, data: dict[str, Any]) -> str:
    # Nothing within the data may end the script that it stands in.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    body = BODY.replace("__TITLE__", html.escape(title)).replace("__SUBTITLE__", html.escape(subtitle))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{html.escape(title)}</title><style>{STYLE}</style></head>\n'
        f'<body>{body}<script type="application/json" id="data">{text}</script>\n'
        '<script>"use strict";\nconst data = JSON.parse(document.getElementById("data").textContent);\n'
        f"{FILMS}{PANES}{CONTROLS}</script></body></html>\n"
    )
