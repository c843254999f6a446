"""Pages with pictures for the documentation site: every level, and a GIF for every task. `make docs` runs it.

Nothing of it is kept in the repository: it follows the levels that there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from npp_env.cli.arguments import write_png
from npp_env.cli.levels_sheet import draw_small
from npp_env.level.level_set import LevelSet
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.level.tasks import ALL_TASK, task_levels
from npp_env.planning import SolveBudget, solve
from npp_env.recording import Recording, load_shipped_recording
from npp_env.render.video import record_video

FOLDER = Path(__file__).parent / "generated"
PICTURE_PX = 352
SHOWN_OF_ALL = "mixed/factory"
"""Has something of many groups in it."""
SEEDS_TRIED = 20
SOLVER = SolveBudget(ticks=20_000_000, shorten_ticks=2_000_000)


def task_recordings() -> Iterator[tuple[str, str, Recording]]:
    """For every task its id, the name of one of its levels, and the quickest recording that wins one."""
    for task, levels in task_levels().items():
        if task == ALL_TASK:
            yield task, SHOWN_OF_ALL, load_shipped_recording(SHOWN_OF_ALL)
        elif levels.startswith("shipped:"):
            group = levels.removeprefix("shipped:")
            runs = [
                (name, load_shipped_recording(name)) for name in shipped_level_names() if name.startswith(f"{group}/")
            ]
            name, recording = min(runs, key=lambda run: run[1].frames or 0)
            yield task, name, recording
        else:
            yield (task, *solved(LevelSet.parse(levels)))


def solved(levels: LevelSet) -> tuple[str, Recording]:
    """The first level of a set that the solver wins, and how."""
    for number in range(SEEDS_TRIED):
        recording = solve(levels[number], budget=SOLVER).recording
        if recording is not None:
            return levels.name_of(number), recording
    raise RuntimeError(f"none of {SEEDS_TRIED} levels of {levels!r} was solved")


def write_tasks(folder: Path) -> None:
    """Write the page of tasks, and its GIFs."""
    lines = ["# Tasks with pictures", "", "Each shows a recording that wins one of its levels.", ""]
    lines += ["| id | levels | a level of it |", "|---|---|---|"]
    for task, name, recording in task_recordings():
        picture = f"{task}.gif"
        record_video(recording, folder / picture, every=4, scale=1 / 3)
        lines.append(f"| `{task}` | `{task_levels()[task]}` | ![{name}]({picture})<br>{name} |")
    (folder / "tasks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_levels(folder: Path) -> None:
    """Write the page of shipped levels, and their pictures."""
    lines = ["# Levels with pictures", ""]
    group = ""
    for name in shipped_level_names():
        level = load_shipped(name)
        if name.partition("/")[0] != group:
            group = name.partition("/")[0]
            lines += [f"## {group}", ""]
        picture = f"{name.replace('/', '-')}.png"
        write_png(draw_small(level, PICTURE_PX), folder / picture)
        frames = load_shipped_recording(name).frames or 0
        teaches = level.metadata.get("teaches", "")
        lines += [f"![{name}]({picture})", ""]
        lines += [
            f"`{name}`, difficulty {level.metadata.get('difficulty', '?')}: {teaches}. Won in {frames / 60:.2f} s.",
            "",
        ]
    (folder / "levels.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write_tasks(FOLDER)
    write_levels(FOLDER)
