"""`npp-env replay`: play a recording and report how it ends."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import (
    add_budget,
    add_files,
    add_force,
    add_json,
    check_budget,
    check_output,
    load_level_argument,
)
from npp_env.cli.printing import complain, say, say_data
from npp_env.cli.progress import progress_bar
from npp_env.errors import NppError, RecordingError

if TYPE_CHECKING:
    import numpy as np

    from npp_env.level.model import Level
    from npp_env.recording import Recording
    from npp_env.recording.replay import ReplayResult

DISAGREES = 1
PICTURE_NS, PICTURE_NS_PER_RECORD = 2_000_000, 80_000
PICTURE_NS_OF_KIND = {"evil-ninja": 220_000, "rocket-turret": 150_000}
"""Of those that take longer, by label."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env replay`."""
    add_files(
        parser,
        "a recording (attract file or ours), or the name of a shipped level for the one that wins it; "
        "or a level (file, shipped name, pack:FILE#12) and a file of inputs: "
        "one byte a frame (bit 0 jump, bit 1 right, bit 2 left), raw or as .npy",
    )
    parser.add_argument("--level", metavar="LEVEL", help="level of a recording that does not hold its own")
    parser.add_argument("--trace", type=Path, metavar="OUT.npz", help="write the trajectory")
    parser.add_argument("-o", "--output", type=Path, metavar="RUN.gif", help="write a video (.gif or .mp4)")
    add_json(parser, "a line")
    add_budget(parser)
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if the recording itself tells of another outcome."""
    from npp_env.recording.replay import replay

    check_output(args.trace, args.force, ".npz")
    check_output(args.output, args.force, ".gif", ".mp4")
    recording = read_arguments(args.files, args.level)
    level = recording.level
    if level is not None:
        what = f"a replay of {len(recording.inputs):,} frames of this level"
        check_budget(args, len(recording.inputs) * level.tick_ns, what)
    result = replay(recording, trace=args.trace is not None)
    if args.trace is not None:
        write_trace(result, args.trace)
    report = {
        "outcome": result.outcome,
        "frames": result.frames,
        "gold": result.gold,
        "score": round(result.score, 3),
        "unused_inputs": result.unused_inputs,
        "level": level.name if level is not None else "",
        "level_hash": recording.level_hash,
    }
    differences = find_differences(recording, result)
    if args.json:
        say_data({**report, "disagreements": differences})
    else:
        say(
            f"{result.outcome} at frame {result.frames}, gold {result.gold}, score {result.score:.3f}"
            + (f", {result.unused_inputs} inputs unused" if result.unused_inputs else "")
        )
    for difference in differences:
        complain(f"npp-env replay: {difference}")
    if args.output is not None:
        write_video(args, recording, result.frames)
    return DISAGREES if differences else 0


def write_video(args: argparse.Namespace, recording: Recording, frames: int) -> None:
    """Write the video of a recording that ends after so many frames."""
    from npp_env.render.video import count_pictures, record_video

    if recording.level is not None:
        pictures = count_pictures(args.output, frames)
        check_budget(args, pictures * picture_ns(recording.level), f"a video of {frames:,} frames")
    with progress_bar("frames", frames) as bar:
        record_video(recording, args.output, on_frame=lambda frame: bar.update(min(frame, frames) - bar.n))


def picture_ns(level: Level) -> int:
    """Nanoseconds that a picture of a level takes at most, roughly."""
    from npp_env.level.entity_kinds import KIND_OF_LABEL

    dear = {int(KIND_OF_LABEL[label]): ns for label, ns in PICTURE_NS_OF_KIND.items()}
    return PICTURE_NS + sum(dear.get(kind, PICTURE_NS_PER_RECORD) for kind in level.records[:, 0].tolist())


def read_arguments(files: list[str], level_text: str | None) -> Recording:
    """The recording that the arguments mean, with its level.

    Raises:
        NppError: There are too many files, or they cannot be read.
    """
    from npp_env.recording import Recording

    level = None if level_text is None else load_level_argument(level_text)
    if len(files) == 1:
        recording = load_recording_argument(files[0])
        if level is None or level == recording.level:
            return recording
        return attach_level(recording, level)
    if len(files) > 2 or level is not None:
        raise NppError(
            f"{len(files)} files{' and --level' if level is not None else ''}; give one recording, or a "
            f"level and a file of inputs"
        )
    return Recording.of_level(load_level_argument(files[0]), read_inputs(Path(files[1])))


def load_recording_argument(text: str) -> Recording:
    """A recording given by the path of its file, or the one that wins a shipped level, given by its name."""
    from npp_env.level.level_set import SHIPPED
    from npp_env.level.shipped import shipped_level_names, suggestion
    from npp_env.recording import load_recording, load_shipped_recording

    if Path(text).exists():
        return load_recording(text)
    name = text.removeprefix(f"{SHIPPED}:")
    if name in shipped_level_names():
        return load_shipped_recording(name)
    raise RecordingError(f"{text}: no such file, and no shipped level; {suggestion(name)}")


def attach_level(recording: Recording, level: Level) -> Recording:
    """The recording with this level, which must be its own."""
    from npp_env.recording import Recording

    parts = (recording.inputs, recording.outcome, recording.frames, recording.gold, recording.demo_header)
    return Recording(level, recording.level_hash, *parts)


def read_inputs(path: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Inputs from a .npy file, a recording, or a file of raw bytes; values are checked by `Recording`."""
    import numpy as np

    from npp_env.level.files import read_bounded
    from npp_env.level.npy import load_npy
    from npp_env.recording import MAX_FRAMES, load_recording

    most_bytes = MAX_FRAMES + 1024
    data = read_bounded(path, most_bytes, RecordingError)
    if data.startswith(b"NPPR"):
        return load_recording(path).inputs
    if data.startswith(b"\x93NUMPY"):
        return load_npy(path, most_bytes, RecordingError)
    return np.frombuffer(data, np.uint8)


def write_trace(result: ReplayResult, path: Path) -> None:
    """Write the arrays `ninja` (T, 4) and `state` (T,) exactly to this path."""
    import numpy as np

    from npp_env.level.whole_file import write_whole

    assert result.trace is not None
    content = io.BytesIO()
    np.savez_compressed(content, ninja=result.trace.ninja, state=result.trace.state)
    write_whole(path, content.getvalue())


def find_differences(recording: Recording, result: ReplayResult) -> list[str]:
    """Where the replay contradicts what the recording says of itself."""
    pairs = (
        ("outcome", recording.outcome, result.outcome),
        ("frames", recording.frames, result.frames),
        ("gold", recording.gold, result.gold),
    )
    return [
        f"{name}: the recording says {said}, the replay gives {found}"
        for name, said, found in pairs
        if said is not None and said != found
    ]
