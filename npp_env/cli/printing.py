"""All that commands write to the terminal goes through here, so that nothing of a file can command the terminal."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from typing import Any, TextIO


def say(text: str = "") -> None:
    """Print text to stdout; what is not printable shows as an escape."""
    _write(sys.stdout, _harmless(text))


def say_drawing(text: str) -> None:
    """Print a drawing of our own, colours included; nothing of a file may stand in it."""
    _write(sys.stdout, text)


def say_data(data: Any, indent: int | None = 1) -> None:
    """Print data as JSON."""
    _write(sys.stdout, as_json(data, indent))


def as_json(data: Any, indent: int | None = 1) -> str:
    """Data as JSON in plain ASCII, without control characters."""
    # JSON leaves this one as it is.
    return json.dumps(data, indent=indent).replace("\x7f", "\\u007f")


def say_table(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> None:
    """Print rows of text in columns that fit the terminal: what is too long in the last one goes on below.

    Args:
        rows: The header first; all of the same length.
        right: Columns with numbers, which stand to the right.
    """
    say("\n".join(format_table(rows, terminal_width(), right=right)))


def format_table(rows: Sequence[Sequence[str]], width: int, *, right: Collection[int] = ()) -> list[str]:
    """The lines of a table; see `say_table`.

    Example:
        >>> format_table([("a", "b"), ("1", "one two three")], 12, right=[0])
        ['a  b', '1  one two', '   three']
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    indent = sum(widths) + 2 * len(widths)
    lines = []
    for row in rows:
        cells = [
            text.rjust(n) if k in right else text.ljust(n) for k, (text, n) in enumerate(zip(row, widths, strict=False))
        ]
        last = textwrap.wrap(row[-1], max(width - indent, 12), break_long_words=False, break_on_hyphens=False) or [""]
        lines.append("  ".join([*cells, last[0]]).rstrip())
        lines += [" " * indent + line for line in last[1:]]
    return lines


def terminal_width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size().columns


def complain(text: str) -> None:
    """Print a warning or error to stderr."""
    _write(sys.stderr, _harmless(text))


def _harmless(text: str) -> str:
    # Whoever asks for help alone need not wait until the modules of levels, and numpy with them, are there.
    from npp_env.errors import printable_lines

    return printable_lines(text)


def _write(stream: TextIO, text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)
