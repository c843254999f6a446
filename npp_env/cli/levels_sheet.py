"""`npp-env levels sheet -o OUT.png`: one picture with all levels of a set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_force, add_json, check_output, parse_finite_levels, write_png
from npp_env.cli.printing import say, say_data
from npp_env.cli.progress import with_progress
from npp_env.errors import ConfigError, NppError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from npp_env.level.model import Level

NAME = "sheet"
HELP = "draw a contact sheet of levels into a PNG"
MAX_WIDTH_PX = 4096
MAX_SHEET_PX = 1 << 26
_CAPTION_PX = 16
_GAP_PX = 6
_BACKGROUND, _INK = (32, 34, 38), (225, 228, 232)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env levels sheet`."""
    add = parser.add_argument
    add("levels", nargs="*", default=["shipped"], metavar="LEVELS", help="level sets (default: all shipped)")
    add("-o", "--output", type=Path, required=True, metavar="OUT.png")
    add("--columns", type=int, default=6, metavar="N", help="pictures a row (default %(default)s)")
    add("--width", type=int, default=264, metavar="PX", help="width of one picture (default %(default)s)")
    add_json(parser, "a line")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.columns < 1 or not 44 <= args.width <= MAX_WIDTH_PX:
        raise ConfigError(f"--columns {args.columns}, --width {args.width}; at least 1, and from 44 to {MAX_WIDTH_PX}")
    if args.output.suffix.lower() != ".png":
        raise NppError(f"{args.output}: the sheet is a PNG; name it {args.output.with_suffix('.png')}")
    check_output(args.output, args.force)
    levels = parse_finite_levels(args.levels)
    if len(levels) * args.width * _height_of(args.width) > MAX_SHEET_PX:
        raise ConfigError(
            f"{len(levels)} pictures of --width {args.width} have more than the {MAX_SHEET_PX:,} pixels of a sheet"
        )
    numbers = with_progress(range(len(levels)), "levels", len(levels))
    pictures = [_captioned(draw_small(levels[index], args.width), caption(levels.name_of(index))) for index in numbers]
    sheet = arrange(pictures, args.columns)
    write_png(sheet, args.output)
    result: dict[str, Any] = {"output": str(args.output), "levels": len(levels), "size": list(sheet.shape[1::-1])}
    if args.json:
        say_data(result, indent=None)
    else:
        say(f"written: {args.output}, {len(levels)} levels")
    return 0


def caption(name: str) -> str:
    """What fits below a picture: of a level of a pack its name in it, of a file the end of its path.

    Example:
        >>> caption("pack:my/levels.txt#The End"), caption("a/long/way/to/walk.txt"), caption("mines/ring")
        ('The End', 'to/walk.txt', 'mines/ring')
    """
    from npp_env.level.pack_files import SCHEME as PACK

    if name.startswith(f"{PACK}:"):
        return name.rpartition("#")[2]
    return "/".join(name.split("/")[-2:])


def draw_start(level: Level) -> NDArray[np.uint8]:
    """The start of a level as an RGB picture; a fresh array."""
    from npp_env.render.picture import draw_rgb
    from npp_env.sim.geometry import compile_level

    geometry = compile_level(level)
    return draw_rgb(level, geometry, geometry["initial"])


def _height_of(width: int) -> int:
    from npp_env.render.picture import PICTURE_SHAPE

    return round(width * PICTURE_SHAPE[0] / PICTURE_SHAPE[1])


def draw_small(level: Level, width: int) -> NDArray[np.uint8]:
    """The start of a level as a small RGB picture; a fresh array."""
    import numpy as np

    from npp_env.render.opencv import load_cv2

    cv2 = load_cv2()
    picture = draw_start(level)
    height = _height_of(width)
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def arrange(pictures: list[NDArray[np.uint8]], columns: int) -> NDArray[np.uint8]:
    """Pictures of one size in rows, with a gap around each; a fresh array."""
    import numpy as np

    height, width = pictures[0].shape[:2]
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (rows * (height + _GAP_PX) + _GAP_PX, columns * (width + _GAP_PX) + _GAP_PX, 3)
    sheet = np.full(size, _BACKGROUND, np.uint8)
    for k, picture in enumerate(pictures):
        y = _GAP_PX + (k // columns) * (height + _GAP_PX)
        x = _GAP_PX + (k % columns) * (width + _GAP_PX)
        sheet[y : y + height, x : x + width] = picture
    return sheet


def _captioned(picture: NDArray[np.uint8], text: str) -> NDArray[np.uint8]:
    import numpy as np

    from npp_env.render.opencv import load_cv2

    cv2 = load_cv2()
    strip = np.full((_CAPTION_PX, picture.shape[1], 3), _BACKGROUND, np.uint8)
    cv2.putText(strip, text, (2, _CAPTION_PX - 5), cv2.FONT_HERSHEY_SIMPLEX, 0.36, _INK, 1, cv2.LINE_AA)
    return np.vstack([picture, strip])
