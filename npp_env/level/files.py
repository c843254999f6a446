"""Loading and saving level files, told apart by their content."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

from npp_env.errors import LevelError, NppError
from npp_env.level.binary import read_map, write_map
from npp_env.level.game_form import in_game_form
from npp_env.level.layout import LENGTH_EXCLUDED_BYTES
from npp_env.level.model import Level
from npp_env.level.pack import BYTE_ORDER_MARK, PACK_START, find_lines, read_pack
from npp_env.level.text import read_text, write_text
from npp_env.level.whole_file import write_whole

TEXT_SUFFIX = ".txt"
BINARY_SUFFIX = ".nppmap"
MAX_FILE_BYTES = 1 << 20

_TEXT_START = b"npp-level"
_PIECE_BYTES = 1 << 16


def load_level(path: str | os.PathLike[str]) -> Level:
    """Load a level file, text or binary map, whatever its suffix; or a pack that holds one level.

    Raises:
        LevelError: The file cannot be opened, is larger than 1 MB, or is not a playable level.
    """
    return level_from_bytes(read_bounded(path, MAX_FILE_BYTES, LevelError), path)


def level_from_bytes(data: bytes, path: str | os.PathLike[str]) -> Level:
    """Read the one level that a file holds.

    Args:
        data: The whole file.
        path: Where it is from, for error messages.

    Raises:
        LevelError: It is larger than 1 MB, or is not a playable level.
    """
    try:
        if len(data) > MAX_FILE_BYTES:
            raise LevelError(f"the file is larger than {MAX_FILE_BYTES} bytes; this cannot be right")
        return _read_any(data)
    except LevelError as error:
        raise LevelError(f"{os.fspath(path)}: {error}") from error


def is_level(data: bytes) -> bool:
    """Whether a file that holds this is a level, or claims to be a text or a pack of levels."""
    if is_pack(data) or data.removeprefix(BYTE_ORDER_MARK).startswith(_TEXT_START):
        return True
    try:
        return bool(_read_any(data))
    except LevelError:
        return False


def is_pack(data: bytes) -> bool:
    """Whether a file that begins so is a pack of levels."""
    return data.removeprefix(BYTE_ORDER_MARK).startswith(PACK_START)


def save_level(level: Level, path: str | os.PathLike[str], overwrite: bool = False, *, as_game: bool = False) -> None:
    """Save a level: a ``.txt`` as text, a ``.nppmap`` as a binary map (which has no place for metadata).

    Args:
        level: The level.
        path: Where to.
        overwrite: Replace a file that exists.
        as_game: Bring the level into the form of the game first (see `npp_env.level.game_form.in_game_form`), which
            may make another level of it. Without it the records stay in their order, so that the level plays the same.

    Raises:
        LevelError: The suffix is another one, the file exists already, or it cannot be written.
    """
    if as_game:
        level = in_game_form(level)
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
            # Python makes room for all that it is asked to read, however short the file is.
            pieces = [file.read(min(os.fstat(file.fileno()).st_size, limit_bytes) + 1)]
            left = limit_bytes + 1 - len(pieces[0])
            while left > 0 and pieces[-1]:
                pieces.append(file.read(min(_PIECE_BYTES, left)))
                left -= len(pieces[-1])
            data = b"".join(pieces)
    except (OSError, ValueError) as error:
        raise error_type(f"{os.fspath(path)}: cannot be read: {error}") from error
    if len(data) > limit_bytes:
        raise error_type(f"{os.fspath(path)}: the file is larger than {limit_bytes} bytes; this cannot be right")
    return data


def read_json(path: str | os.PathLike[str], limit_bytes: int, error_type: type[NppError]) -> Any:
    """Read a JSON file, but never more than the limit."""
    return parse_json(read_bounded(path, limit_bytes, error_type), os.fspath(path), error_type)


def parse_json(data: bytes, name: str, error_type: type[NppError]) -> Any:
    """What a JSON file of this name holds."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise error_type(f"{name}: truncated or not JSON ({error})") from error


def write_file(path: str | os.PathLike[str], data: bytes, overwrite: bool, error_type: type[NppError]) -> None:
    """Write a file whole; one that exists is left alone unless it may be overwritten."""
    try:
        write_whole(path, data, overwrite=overwrite)
    except FileExistsError as error:
        raise error_type(f"{os.fspath(path)}: the file exists; pass overwrite=True to replace it") from error
    except (OSError, ValueError) as error:
        raise error_type(f"{os.fspath(path)}: cannot be written: {error}") from error


def _read_any(data: bytes) -> Level:
    if data.removeprefix(BYTE_ORDER_MARK).startswith(_TEXT_START):
        return _read_utf8(data)
    if is_pack(data):
        levels = find_lines(data)
        if len(levels) > 1:
            raise LevelError(f"this is a pack of {len(levels)} levels; name one as pack:FILE#0, or all as pack:FILE")
        return read_pack(data)[0]
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
