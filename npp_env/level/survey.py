"""What level files hold: each is read once, before anyone relies on it, and nothing of it is kept but the facts."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import weakref
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError, StateError
from npp_env.level.cache import SET_PREFIX, default_cache
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.facts import FACTS, facts_of
from npp_env.level.files import BINARY_SUFFIX, TEXT_SUFFIX, is_pack, level_from_bytes, read_bounded
from npp_env.level.layout import RECORD_BYTES, RECORDS_OFFSET
from npp_env.level.pack import read_pack_line
from npp_env.level.pack_files import MAX_PACK_BYTES, PackEntry, open_pack

LEVEL_SUFFIXES = (TEXT_SUFFIX, BINARY_SUFFIX, "")
"""What a file of one of these suffixes holds is taken for a level; other files only if they are maps of the game."""
_LENGTH_FIELD = struct.Struct("<4xi")
_REASON_CHARACTERS = 160
_FILES_WORTH_AN_INDEX = 256
_INDEX_VERSION = 1

SurveyEntry = Path | PackEntry

_surveys: weakref.WeakValueDictionary[bytes, Survey] = weakref.WeakValueDictionary()


class Survey:
    """The levels that some files hold.

    Attributes:
        entries: A path for a file with one level, an entry for each level of a pack.
        facts: What is known of each of them, shape (n, 56).
        left_out: The files that are no levels, each with the reason.
    """

    __slots__ = ("__weakref__", "entries", "facts", "left_out")

    def __init__(self, entries: list[SurveyEntry], facts: NDArray[np.uint16], left_out: list[str]) -> None:
        self.entries = entries
        self.facts = facts
        self.left_out = left_out


def survey_files(paths: Iterable[Path], *, strict: bool = False) -> Survey:
    """Read files, in the order of their paths; while a survey lives, files that did not change are not read again.

    Args:
        paths: Files; one that is no level is left out.
        strict: Raise for such a file instead.

    Raises:
        LevelError: A file is no level, and strict.
    """
    found = sorted(paths, key=lambda path: path.as_posix())
    digest = hashlib.blake2b(digest_size=16)
    for path in found:
        digest.update(f"{path}\0{_stamp(path)}\0{strict}\0".encode(errors="surrogateescape"))
    known = _surveys.get(digest.digest())
    if known is None:
        known = (_read_all if len(found) < _FILES_WORTH_AN_INDEX else _look_up)(found, strict)
    return _surveys.setdefault(digest.digest(), known)


def survey_folder(folder: Path) -> Survey:
    """Read all levels below a folder; what begins with a dot is passed over."""
    return survey_files(_candidates(folder))


def _read_all(paths: list[Path], strict: bool) -> Survey:
    """Read and understand every file."""
    entries: list[SurveyEntry] = []
    facts: list[NDArray[np.uint16]] = []
    left_out: list[str] = []
    for path in paths:
        try:
            found = _read(path)
        except LevelError as error:
            if strict:
                raise
            reason = str(error)
            left_out.append(reason if len(reason) <= _REASON_CHARACTERS else f"{reason[:_REASON_CHARACTERS]}...")
            continue
        for entry, own in found:
            entries.append(entry)
            facts.append(own)
    return Survey(entries, np.array(facts, np.uint16).reshape(-1, FACTS), left_out)


def _look_up(paths: list[Path], strict: bool) -> Survey:
    """The same by an index in the cache: files are read, but understood only if their content was never seen.

    The index has a row for each level: the number of its file, in two halves, and its facts.
    """
    content = hashlib.blake2b(digest_size=16)
    packs: dict[int, list[PackEntry]] = {}
    for number, path in enumerate(paths):
        try:
            data = read_bounded(path, MAX_PACK_BYTES, LevelError)
            if is_pack(data):
                packs[number] = open_pack(path, data)
        except LevelError:
            data = b""
        content.update(hashlib.blake2b(data, digest_size=16).digest())

    def build() -> NDArray[np.uint16]:
        survey = _read_all(paths, strict)
        number_of = {path: number for number, path in enumerate(paths)}
        owners = [number_of[e if isinstance(e, Path) else e.path] for e in survey.entries]
        halves = np.array(owners, "<u4").reshape(-1, 1).view("<u2")
        return np.concatenate([halves, survey.facts], axis=1)

    def check(index: NDArray[np.uint16]) -> None:
        if index.dtype != np.uint16 or index.ndim != 2 or index.shape[1] != 2 + FACTS:
            raise StateError(f"an index of {index.dtype} with shape {index.shape}")
        _entries_of(_owners(index), paths, packs)

    key = ArtifactKey(content.hexdigest(), f"{SET_PREFIX}index", "", _INDEX_VERSION)
    index = default_cache().get_by_key(key, build, check)
    owners = _owners(index)
    entries = _entries_of(owners, paths, packs)
    present = set(owners)
    # Files that are no levels are few, and have to say why.
    missing = _read_all([path for number, path in enumerate(paths) if number not in present], strict)
    if missing.entries:
        return _read_all(paths, strict)  # an index that leaves out levels is none
    return Survey(entries, index[:, 2:], missing.left_out)


def _owners(index: NDArray[np.uint16]) -> list[int]:
    """Number of the file of each row."""
    owners: list[int] = np.ascontiguousarray(index[:, :2]).view("<u4")[:, 0].tolist()
    return owners


def _entries_of(owners: list[int], paths: list[Path], packs: dict[int, list[PackEntry]]) -> list[SurveyEntry]:
    """The levels of the files that an index names.

    Raises:
        StateError: These files do not have these levels.
    """
    entries: list[SurveyEntry] = []
    for number, rows in groupby(owners):
        if number >= len(paths):
            raise StateError(f"file {number} of {len(paths)}")
        found: list[SurveyEntry] = [*packs[number]] if number in packs else [paths[number]]
        if len(found) != len(list(rows)):
            raise StateError(f"{paths[number]} has {len(found)} levels")
        entries += found
    return entries


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "gone"
    return f"{status.st_mtime_ns} {status.st_size}"


def _candidates(folder: Path) -> Iterator[Path]:
    """Files that seem to be levels."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if not name.startswith(".") and _seems_level(path):
                yield path


def _seems_level(path: Path) -> bool:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return False
        if path.suffix in LEVEL_SUFFIXES:
            return True
        # The game's maps have no suffix, but a name such as "1.5 times" looks as if it had one.
        records, surplus = divmod(status.st_size - RECORDS_OFFSET, RECORD_BYTES)
        if records < 1 or surplus:
            return False
        with open(path, "rb") as file:
            head = file.read(_LENGTH_FIELD.size)
    except OSError:
        return path.suffix in LEVEL_SUFFIXES
    return len(head) == _LENGTH_FIELD.size and _LENGTH_FIELD.unpack(head)[0] == status.st_size


def _read(path: Path) -> list[tuple[SurveyEntry, NDArray[np.uint16]]]:
    """The levels of a file, and the facts of each."""
    data = read_bounded(path, MAX_PACK_BYTES, LevelError)
    if not is_pack(data):
        return [(path, facts_of(level_from_bytes(data, path)))]
    found: list[tuple[SurveyEntry, NDArray[np.uint16]]] = []
    for entry in open_pack(path, data):
        at = entry.at
        try:
            level = read_pack_line(data[at.start : at.start + at.size], at.line)
        except LevelError as error:
            raise LevelError(f"{path}: {error}") from error
        found.append((entry, facts_of(level)))
    return found
