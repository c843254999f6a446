"""All that commands write to the terminal goes through here, so that nothing of a file can command the terminal."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

from npp_env.printable import printable_lines


def say(text: str = "") -> None:
    """Print text to stdout; what is not printable shows as an escape."""
    _write(sys.stdout, printable_lines(text))


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


def complain(text: str) -> None:
    """Print a warning or error to stderr."""
    _write(sys.stderr, printable_lines(text))


def _write(stream: TextIO, text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)
