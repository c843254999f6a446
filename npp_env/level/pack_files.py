"""Packs as files: the levels in one, each read when it is asked for."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from npp_env.errors import LevelError
from npp_env.level.files import read_bounded
from npp_env.level.model import Level
from npp_env.level.pack import PackLine, find_lines, read_pack_line
from npp_env.level.validation import shorten

SCHEME = "pack"
MAX_PACK_BYTES = 64 << 20
"""Our own bound; the packs of the game stay far below it."""


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One level of a pack file.

    Attributes:
        path: The file.
        at: Where in it the level stands.
        key: What names it within the file: its name, or its number where that is no good.
    """

    path: Path
    at: PackLine
    key: str

    @property
    def label(self) -> str:
        """What names it anywhere, such as `pack:levels.txt#The End`."""
        return f"{SCHEME}:{self.path.as_posix()}#{self.key}"

    def load(self) -> Level:
        """Read the level.

        Raises:
            LevelError: It is not playable, or the file is not what it was when it was opened.
        """
        text = self.read()
        try:
            return read_pack_line(text, self.at.line)
        except LevelError as error:
            raise LevelError(f"{self.path}: {error}") from error

    def read(self) -> bytes:
        """The line of the level, without its end.

        Raises:
            LevelError: It is not there any more.
        """
        try:
            with open(self.path, "rb") as file:
                file.seek(self.at.start)
                text = file.read(self.at.size)
        except OSError as error:
            raise LevelError(f"{self.path}: cannot be read: {error}") from error
        if not text.startswith(f"${self.at.name}#".encode("latin-1")):
            raise LevelError(
                f"{self.path}: line {self.at.line}, offset 0: level {shorten(self.at.name)} is not here any more; the "
                f"file has changed since it was opened"
            )
        return text


def open_pack(path: Path, data: bytes | None = None) -> list[PackEntry]:
    """Find the levels of a pack file, without reading what they hold; a fresh list.

    Args:
        path: The file.
        data: What it holds, if that is known already.

    Raises:
        LevelError: It cannot be opened, is larger than 64 MB, or is not a pack.
    """
    if data is None:
        data = read_bounded(path, MAX_PACK_BYTES, LevelError)
    try:
        lines = find_lines(data)
    except LevelError as error:
        raise LevelError(f"{os.fspath(path)}: {error}") from error
    times = Counter(at.name for at in lines)
    return [PackEntry(path, at, at.name if _is_key(at.name, times) else str(at.number)) for at in lines]


def _is_key(name: str, times: Counter[str]) -> bool:
    return bool(name) and times[name] == 1 and name.isprintable() and name == name.strip() and not name.isdigit()


def choose_entry(entries: list[PackEntry], key: str) -> PackEntry:
    """The level of a pack with this number (from 0) or name; what consists of digits is a number.

    Raises:
        LevelError: There is no such level, or several have this name.
    """
    where = entries[0].path
    if key.isascii() and key.isdigit():
        number = int(key[:20])
        if number >= len(entries):
            raise LevelError(f"{where}: no level {key[:20]}; there are {len(entries)}, with numbers from 0")
        return entries[number]
    found = [entry for entry in entries if entry.at.name == key]
    if len(found) == 1:
        return found[0]
    if found:
        numbers = ", ".join(str(entry.at.number) for entry in found[:8])
        raise LevelError(f"{where}: {len(found)} levels are called {shorten(key)}; use a number: {numbers}")
    from difflib import get_close_matches

    names = {entry.at.name.lower(): entry.at.name for entry in entries}
    near = [names[name] for name in get_close_matches(key[:100].lower(), list(names), n=3)]
    hint = f"did you mean {' or '.join(map(shorten, near))}?" if near else "use a name of it, or a number from 0"
    raise LevelError(f"{where}: no level {shorten(key)} among the {len(entries)} of this pack; {hint}")
