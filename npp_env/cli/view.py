"""`npp-env view`: runs as a page for the browser."""

from __future__ import annotations

import argparse
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.cli.arguments import add_files, add_force, check_output
from npp_env.cli.printing import say
from npp_env.cli.recordings import find_recordings
from npp_env.cli.replay import load_recording_argument
from npp_env.errors import NppError, RecordingError

if TYPE_CHECKING:
    from npp_env.evaluation.page import Run
    from npp_env.evaluation.scores import Evaluation
    from npp_env.recording import Recording

EVALUATION_SUFFIX = ".json"
EVALUATION_NAME = "evaluation.json"
DEFAULT_PAGE = "view.html"
MOST_RUNS = 1000
_MOST_JSON_BYTES = 256 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env view`."""
    add_files(
        parser,
        "recordings, folders of them, names of shipped levels (for the recording that wins them), or what "
        "`npp-env evaluate --out` wrote (the folder, or its evaluation.json)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path(DEFAULT_PAGE),
        metavar="PAGE.html",
        help="where the page is written (default %(default)s)",
    )
    parser.add_argument("--title", default="", help="what the page is called")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    check_output(args.output, args.force, ".html", ".htm")
    found = gather(args.files)
    title = args.title or ("Runs" if found.evaluation is None else "Evaluation")
    write_page(found.runs, args.output, title, found.evaluation)
    if args.open:
        webbrowser.open(args.output.resolve().as_uri())
    return 0


def write_page(runs: list[Run], path: Path, title: str, evaluation: Evaluation | None) -> None:
    """Write the page of some runs, and say so."""
    from npp_env.evaluation.page import page
    from npp_env.level.whole_file import write_whole

    text = page(runs, title, evaluation).encode()
    write_whole(path, text)
    levels = len({run.recording.level_hash for run in runs})
    say(f"written: {path} ({len(runs)} runs on {levels} levels, {len(text) / 1024:,.0f} KB)")


@dataclass(slots=True)
class Gathered:
    """What the arguments name."""

    runs: list[Run] = field(default_factory=list)
    evaluation: Evaluation | None = None


def gather(files: list[str]) -> Gathered:
    """The runs, and the evaluation if there is one, that arguments name.

    Raises:
        NppError: There is none, there are too many, or something cannot be read.
    """
    from npp_env.evaluation.page import Run

    found = Gathered()
    for text in files:
        path = Path(text)
        if path.is_dir() and (path / EVALUATION_NAME).is_file():
            path = path / EVALUATION_NAME
        if path.suffix.lower() == EVALUATION_SUFFIX:
            if found.evaluation is not None:
                raise NppError(f"{path}: a page shows one evaluation; give each its own page")
            found.evaluation = load_evaluation(path)
            found.runs += runs_of_evaluation(found.evaluation, path.parent)
        else:
            found.runs += [Run(name, recording) for name, recording in named_recordings(text)]
    if not found.runs:
        raise NppError("there is nothing to show; `npp-env evaluate --out FOLDER` keeps recordings")
    if len(found.runs) > MOST_RUNS:
        raise NppError(f"{len(found.runs)} runs; a page shows at most {MOST_RUNS}")
    return found


def named_recordings(text: str) -> list[tuple[str, Recording]]:
    """The recordings that an argument names, each with what to call it."""
    from npp_env.recording import load_recording

    files = find_recordings(text)
    if files is None:
        return [("winning recording", load_recording_argument(text))]
    if len(files) > MOST_RUNS:
        raise NppError(f"{text} holds {len(files)} recordings; a page shows at most {MOST_RUNS}")
    return [(file.stem, load_recording(file)) for file in files]


def load_evaluation(path: Path) -> Evaluation:
    """An evaluation from its file.

    Raises:
        EvaluationError: It cannot be read, or is none.
    """
    from npp_env.evaluation.scores import Evaluation, EvaluationError
    from npp_env.level.files import read_json

    data = read_json(path, _MOST_JSON_BYTES, EvaluationError)
    try:
        return Evaluation.from_dict(data)
    except (EvaluationError, RecursionError) as error:
        raise EvaluationError(f"{path}: {error}") from error


def runs_of_evaluation(evaluation: Evaluation, folder: Path) -> list[Run]:
    """The best and worst runs of an evaluation, from the folder of its file."""
    from npp_env.evaluation.page import Run
    from npp_env.recording import load_recording

    runs: list[Run] = []
    for level in evaluation.levels:
        for word, name in level.recordings.items():
            if Path(name).name != name:
                raise RecordingError(f"the recording {name!r} of {level.name} does not lie beside the evaluation")
            runs.append(Run(word, load_recording(folder / name), level.name))
    if not runs:
        raise NppError("the evaluation names no recordings; `npp-env evaluate --out FOLDER` keeps them")
    return runs
