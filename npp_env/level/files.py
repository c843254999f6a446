"""Loading and saving level files, told apart by their content."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from npp_env.errors import LevelError, NppError
from npp_env.level.binary import read_map, write_map
from npp_env.level.layout import LENGTH_EXCLUDED_BYTES
from npp_env.level.model import Level
from npp_env.level.text import read_text, write_text

TEXT_SUFFIX = ".txt"
BINARY_SUFFIX = ".nppmap"
MAX_FILE_BYTES = 1 << 20

_TEXT_START = b"npp-level"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def load_level(path: str | os.PathLike[str]) -> Level:
    """Load a level file, text or binary map, whatever its suffix.

    Raises:
        LevelError: The file cannot be opened, is larger than 1 MB, or is not a playable level.
    """
    data = read_bounded(path, MAX_FILE_BYTES, LevelError)
    try:
        return _read_any(data)
    except LevelError as error:
        raise LevelError(f"{os.fspath(path)}: {error}") from error


def save_level(level: Level, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Save a level: a ``.txt`` as text, a ``.nppmap`` as a binary map (which has no place for metadata).

    Raises:
        LevelError: The suffix is another one, the file exists already, or it cannot be written.
    """
    suffix = Path(path).suffix
    if suffix == TEXT_SUFFIX:
        data = write_text(level).encode("utf-8")
    elif suffix == BINARY_SUFFIX:
        data = write_map(level)
    else:
        raise LevelError(
            f"{os.fspath(path)}: the suffix is {suffix!r}; use {TEXT_SUFFIX} for text or {BINARY_SUFFIX} for "
            f"a binary map"
        )
    write_file(path, data, overwrite, LevelError)


def read_bounded(path: str | os.PathLike[str], limit_bytes: int, error_type: type[NppError]) -> bytes:
    """Read a file, but never more than the limit (a device or pipe may have no end)."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit_bytes + 1)
    except (OSError, ValueError) as error:
        raise error_type(f"{os.fspath(path)}: cannot be read: {error}") from error
    if len(data) > limit_bytes:
        raise error_type(f"{os.fspath(path)}: the file is larger than {limit_bytes} bytes; this cannot be right")
    return data


def write_file(path: str | os.PathLike[str], data: bytes, overwrite: bool, error_type: type[NppError]) -> None:
    """Write a file; one that exists is left alone unless it may be overwritten."""
    try:
        with open(path, "wb" if overwrite else "xb") as file:
            file.write(data)
    except FileExistsError as error:
        raise error_type(f"{os.fspath(path)}: the file exists; pass overwrite=True to replace it") from error
    except (OSError, ValueError) as error:
        raise error_type(f"{os.fspath(path)}: cannot be written: {error}") from error


def _read_any(data: bytes) -> Level:
    if data.removeprefix(_BYTE_ORDER_MARK).startswith(_TEXT_START):
        return _read_utf8(data)
    if data.startswith(b"NPPR") or _is_attract(data):
        raise LevelError("offset 0: this is a recording; use npp_env.recording.load_recording(path).level")
    try:
        return read_map(data)
    except LevelError:
        # Something typed by a person fails as a map too, but "line 1" helps more than an offset.
        if data and _looks_like_text(data):
            return _read_utf8(data)
        raise


def _read_utf8(data: bytes) -> Level:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LevelError(f"line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the text as UTF-8") from error
    return read_text(text)


def _looks_like_text(data: bytes) -> bool:
    try:
        return b"\0" not in data and bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _is_attract(data: bytes) -> bool:
    if len(data) < LENGTH_EXCLUDED_BYTES:
        return False
    map_length, demo_length = struct.unpack_from("<II", data)
    return bool(demo_length and LENGTH_EXCLUDED_BYTES + map_length + demo_length == len(data))
