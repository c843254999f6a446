"""Videos: pictures into a GIF or MP4 file, and recordings into pictures."""

from __future__ import annotations

import importlib
import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import MissingDependencyError, NppError, RecordingError
from npp_env.level.whole_file import whole_file, write_whole
from npp_env.recording import Recording
from npp_env.render import palette
from npp_env.render.opencv import load_cv2
from npp_env.render.picture import draw_rgb
from npp_env.sim.simulation import Simulation

GAME_FRAMES_PER_SECOND = 60
GIF_SUFFIX, MP4_SUFFIX = ".gif", ".mp4"
LINGER_FRAMES = 45
"""How long a video goes on after death or victory."""

_CENTISECONDS = 100
_PIP_LINE = "install it with `pip install npp_env[video]`"


def write_video(
    path: str | os.PathLike[str],
    frames: Iterable[NDArray[np.uint8]],
    fps: float,
    *,
    colours: NDArray[np.uint8] | None = None,
) -> None:
    """Write pictures into a video file, one after the other; they need not be in memory all at once.

    Args:
        path: A `.gif` or `.mp4` file; replaced if it exists.
        frames: uint8 (height, width, 3), all of one size; for MP4 both even. At least one.
        fps: Pictures per second.
        colours: uint8 (256, 3), those of a GIF; None to take them from the first picture.

    Raises:
        MissingDependencyError: The library that writes this format is missing.
        NppError: The suffix is neither, there are no pictures, or fps is not positive.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (GIF_SUFFIX, MP4_SUFFIX):
        raise NppError(f"{os.fspath(path)}: the suffix is {suffix!r}; use {GIF_SUFFIX} or {MP4_SUFFIX}")
    if not fps > 0:
        raise NppError(f"fps is {fps}; it must be positive")
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise NppError(f"{os.fspath(path)}: a video needs at least one picture")
    everything = itertools.chain([first], pictures)
    if suffix == GIF_SUFFIX:
        write_whole(path, _gif(everything, fps, colours))
    else:
        with whole_file(path) as temporary:
            _write_mp4(temporary, everything, fps)


def record_video(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    every: int | None = None,
    scale: float | None = None,
    hud: bool = True,
    on_frame: Callable[[int], object] | None = None,
) -> None:
    """Play a recording and write it as a video that runs at the speed of the game.

    Args:
        recording: With its level.
        path: A `.gif` or `.mp4` file; replaced if it exists.
        every: Show every so many frames; None for each in an MP4 and every second in a GIF.
        scale: Size relative to 1056 x 600; None for full size in an MP4 and half in a GIF.
        hud: Write name, frame, gold and outcome into the pictures.
        on_frame: Called with the number of game frames that are drawn already.

    Raises:
        RecordingError: The recording has no level.
        MissingDependencyError: The library that writes this format is missing.
        NppError: `every` or `scale` is out of range, or the suffix is unknown.
    """
    every = _usual_step(path) if every is None else every
    scale = 1.0 / _usual_step(path) if scale is None else scale
    if every < 1:
        raise NppError(f"every is {every}; it must be at least 1")
    if not 0.05 <= scale <= 4:
        raise NppError(f"scale is {scale}; it must lie in 0.05..4")
    frames = recording_frames(recording, every=every, scale=scale, hud=hud)
    if on_frame is not None:
        frames = _counted(frames, every, on_frame)
    write_video(path, frames, GAME_FRAMES_PER_SECOND / every, colours=gif_palette())


def count_pictures(path: str | os.PathLike[str], frames: int) -> int:
    """How many pictures `record_video` draws at most of a recording that ends after so many frames."""
    return (frames + LINGER_FRAMES) // _usual_step(path) + 2


def _usual_step(path: str | os.PathLike[str]) -> int:
    """Every how many frames are shown, and by how much pictures are smaller."""
    return 2 if Path(path).suffix.lower() == GIF_SUFFIX else 1


def _counted(
    frames: Iterator[NDArray[np.uint8]], every: int, on_frame: Callable[[int], object]
) -> Iterator[NDArray[np.uint8]]:
    for number, frame in enumerate(frames):
        on_frame(number * every)
        yield frame


def recording_frames(
    recording: Recording, *, every: int = 1, scale: float = 1.0, hud: bool = True
) -> Iterator[NDArray[np.uint8]]:
    """Pictures of a recording being played: the start, every so many frames, and a while after its end.

    Yields:
        Fresh arrays (height, width, 3), both sides even.

    Raises:
        RecordingError: The recording has no level.
    """
    if recording.level is None:
        raise RecordingError(
            f"level {recording.level_hash} is not in the recording; a video needs it: attach the level first"
        )
    return _play(recording.level, recording.inputs, every, scale, hud)


def _play(level: Any, inputs: NDArray[np.uint8], every: int, scale: float, hud: bool) -> Iterator[NDArray[np.uint8]]:
    simulation = Simulation(level)

    def picture(clock: int | None = None) -> NDArray[np.uint8]:
        return _resized(draw_rgb(level, simulation.geometry, simulation.state, hud=hud, clock=clock), scale)

    yield picture()
    frame = 0
    for byte in inputs.tolist():
        simulation.advance(byte & 7)
        frame += 1
        if simulation.outcome != "alive":
            break
        if frame % every == 0:
            yield picture()
    # The frame of the outcome is shown whatever `every` is, and the clock stops there; the world goes on for a while.
    if frame % every or simulation.outcome != "alive":
        yield picture()
    for later in range(1, LINGER_FRAMES + 1):
        simulation.advance(0, stop=False)
        if later % every == 0:
            yield picture(frame)


def _resized(picture: NDArray[np.uint8], scale: float) -> NDArray[np.uint8]:
    if scale == 1:
        return picture
    cv2 = load_cv2()
    height, width = picture.shape[:2]
    # Video codecs want even sides.
    size = (2 * max(round(width * scale / 2), 1), 2 * max(round(height * scale / 2), 1))
    resized: NDArray[np.uint8] = cv2.resize(
        picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    ).astype(np.uint8, copy=False)
    return resized


def _write_mp4(path: str | os.PathLike[str], frames: Iterable[NDArray[np.uint8]], fps: float) -> None:
    try:
        import imageio.v2 as imageio

        # Its absence would show only when the first picture is written.
        importlib.import_module("imageio_ffmpeg")
    except ImportError as error:
        raise MissingDependencyError(f"an MP4 needs imageio with ffmpeg; {_PIP_LINE}") from error
    writer = imageio.get_writer(os.fspath(path), format="FFMPEG", mode="I", fps=fps, quality=8, macro_block_size=2)
    with writer:
        for frame in frames:
            writer.append_data(frame)


def _gif(frames: Iterable[NDArray[np.uint8]], fps: float, colours: NDArray[np.uint8] | None) -> bytes:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(f"a GIF needs Pillow, which comes with imageio; {_PIP_LINE}") from error
    # One palette for all frames: what does not change stays equal byte for byte, and is not stored again.
    table: Any = None
    if colours is not None:
        table = Image.new("P", (1, 1))
        table.putpalette(colours.reshape(-1).tolist())
    images: list[Any] = []
    for frame in frames:
        image = Image.fromarray(frame)
        if table is None:
            table = image.quantize(256)
        images.append(image.quantize(palette=table, dither=Image.Dither.NONE))
    content = io.BytesIO()
    images[0].save(
        content,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=gif_durations(len(images), fps),
        loop=0,
        disposal=1,
    )
    return content.getvalue()


def gif_durations(count: int, fps: float) -> list[int]:
    """How long each picture of a GIF stays, in milliseconds.

    A GIF counts in hundredths of a second: the durations alternate so that the whole keeps time.
    """
    ends = [round((k + 1) * _CENTISECONDS / fps) for k in range(count)]
    return [10 * max(end - start, 1) for start, end in zip([0, *ends], ends, strict=False)]


def gif_palette() -> NDArray[np.uint8]:
    """The 256 colours of a GIF: those of the picture, and what their edges blend to."""
    named = [value for name, value in sorted(vars(palette).items()) if name.isupper()]
    solid = np.unique(np.array(named, np.float64), axis=0)
    grounds = np.array([palette.EMPTY, palette.WALL, palette.INK], np.float64)
    blends = [ground + (solid - ground) * share for share in (0.5, 0.75, 0.25) for ground in grounds]
    chosen = np.rint(np.concatenate([solid, *blends])).astype(np.uint8)
    _, first = np.unique(chosen, axis=0, return_index=True)
    distinct = chosen[np.sort(first)][:256]
    return np.concatenate([distinct, np.zeros((256 - len(distinct), 3), np.uint8)])
