"""Compiled artifacts on disk: one file per level, written atomically, verified, mapped read-only.

Every user has files of their own, below a folder named after the user's number; what root has stored is read too. The
first failure of whatever kind to read a file sets it aside, and the caller builds its arrays again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.level.cache_file import (
    HEAD_LIMIT_BYTES,
    MOST_SECTIONS,
    ArtifactKey,
    DamagedArtifactError,
    Section,
    checksum,
    describe,
    pack_head,
    padding_of,
    parse_head,
    place,
)
from npp_env.level.cache_mapping import OpenFile, identity_of, open_file
from npp_env.level.cache_room import DAMAGED_SUFFIX, SUFFIX, DiskRoom, subfolders

_OFF = frozenset({"", "0", "off", "none"})

ENVIRONMENT_VARIABLE = "NPP_ENV_CACHE"
DEFAULT_LIMIT_BYTES = 4 * 2**30

_SHARED_USER = "0"
"""Root, whose files every user may read."""
_NOT_THERE = (FileNotFoundError, NotADirectoryError)
# What says nothing about the file: too many open files, too little memory, no permission.
_NOT_DAMAGE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM, errno.EINTR})
_ATTEMPTS = 5

_Part = tuple[Section, NDArray[np.uint8]]
Check = Callable[[NDArray[Any]], None]


class StoredFile(NamedTuple):
    """One file of the cache directory."""

    path: Path
    level_hash: str
    nbytes: int
    artifacts: tuple[tuple[str, int], ...]  # names and bytes of the arrays in it; none if it cannot be read


def default_directory() -> Path | None:
    """Where compiled artifacts live: `NPP_ENV_CACHE` if set (empty or `off` means nowhere), else by platform."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen is not None:
        return None if chosen.strip().lower() in _OFF else Path(chosen).expanduser()
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # no home directory
        return None
    return base / "npp_env"


class ArtifactStore:
    """The artifacts of one directory, shared by every process that uses it.

    Args:
        directory: Made on the first write.
        limit_bytes: The oldest files of the user are removed before all together would grow beyond this; mapped ones
            stay valid.
    """

    def __init__(self, directory: str | os.PathLike[str], limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.directory = Path(directory)
        user = str(os.geteuid()) if hasattr(os, "geteuid") else "user"
        self._own = os.path.join(self.directory, user)
        self._folders = [self._own]
        shared = os.path.join(self.directory, _SHARED_USER)
        if user != _SHARED_USER and os.path.isdir(shared):
            self._folders.append(shared)
        self._room = DiskRoom(self._own, limit_bytes)
        # All arrays of a level share one mapping: the system allows a process some 65,000 of them.
        self._open: weakref.WeakValueDictionary[str, OpenFile] = weakref.WeakValueDictionary()

    def path_of(self, level_hash: str) -> Path:
        """Where the artifacts of a level are stored."""
        return Path(_path_in(self._own, level_hash))

    def read(self, key: ArtifactKey, check: Check | None = None) -> NDArray[Any] | None:
        """A stored artifact, all of it verified; None if it is not there.

        Args:
            key: Which artifact.
            check: Raises if an array that was stored without damage cannot be right all the same.

        Returns:
            A read-only array in a file that is mapped; or, if the system has no room for a mapping, in memory.

        Raises:
            DamagedArtifactError: The file is not what was written; it is set aside.
            OSError: It cannot be opened.
        """
        for folder in self._folders:
            path = _path_in(folder, key.level_hash)
            try:
                found = self._read(path, key, check)
            except Exception as error:
                if folder != self._own:
                    continue  # the user cannot repair what belongs to root
                if _is_no_damage(error):
                    raise
                self._set_aside(path)
                raise DamagedArtifactError(f"{path}: {error}") from error
            if found is not None:
                return found
        return None

    def has_file(self, level_hash: str) -> bool:
        """Whether anything of a level is stored."""
        return any(os.path.lexists(_path_in(folder, level_hash)) for folder in self._folders)

    def write(self, key: ArtifactKey, payload: NDArray[Any]) -> None:
        """Store an artifact beside the others of its level; see `write_all`."""
        self.write_all({key: payload})

    def write_all(self, payloads: Mapping[ArtifactKey, NDArray[Any]]) -> None:
        """Store artifacts of one level beside its others; readers see the old file, the whole new one, or none.

        Raises:
            OSError: The directory cannot be written or the disk is full; no file is left behind.
        """
        (level_hash,) = {key.level_hash for key in payloads}
        arrays = [np.ascontiguousarray(payload) for payload in payloads.values()]
        new = [(describe(key, array), _bytes(array)) for key, array in zip(payloads, arrays, strict=True)]
        for _ in range(_ATTEMPTS):
            if self._write(_path_in(self._own, level_hash), level_hash, new):
                return

    def sections(self, level_hash: str) -> frozenset[bytes]:
        """What is stored of a level: for each of its artifacts a checksum of what it is and holds."""
        for folder in self._folders:
            with contextlib.suppress(DamagedArtifactError, OSError):
                return frozenset(map(_mark, _sections(open_file(_path_in(folder, level_hash)), level_hash)))
        return frozenset()

    def export(self, level_hash: str) -> bytes | None:
        """All that is stored of a level, verified, as `install` of another store takes it; None if nothing is.

        Raises:
            OSError: It cannot be opened.
        """
        for folder in self._folders:
            with contextlib.suppress(DamagedArtifactError, *_NOT_THERE):
                file = open_file(_path_in(folder, level_hash))
                for section in _sections(file, level_hash):
                    verify(file, section)
                return file.span(0, file.size).tobytes()
        return None

    def install(self, level_hash: str, data: bytes | memoryview) -> None:
        """Store what `export` of another store gave, beside what is here of the level; all of it is verified.

        Raises:
            DamagedArtifactError: It is not what was exported, or of another level. Nothing has changed then.
            OSError: The directory cannot be written or the disk is full; no file is left behind.
        """
        whole = np.frombuffer(data, np.uint8)
        new = []
        for section in parse_head(bytes(whole[:HEAD_LIMIT_BYTES]), whole.size, level_hash):
            if checksum(whole[section.start : section.end].data) != section.digest:
                raise DamagedArtifactError(f"the checksum of {section.name} does not fit")
            new.append((section, whole[section.start : section.start + section.nbytes]))
        for _ in range(_ATTEMPTS):
            if self._write(_path_in(self._own, level_hash), level_hash, new):
                return

    def files(self) -> Iterator[StoredFile]:
        """Every file of the user, in no particular order."""
        for folder in subfolders(self._own):
            for name in os.listdir(folder):
                level_hash, dot, suffix = name.partition(".")
                if dot + suffix == SUFFIX:
                    path = os.path.join(folder, name)
                    with contextlib.suppress(OSError):
                        nbytes = os.stat(path, follow_symlinks=False).st_size
                        yield StoredFile(Path(path), level_hash, nbytes, _contents(path, level_hash))

    def clear(self) -> tuple[int, int]:
        """Remove everything that the user has stored here; returns how many files and bytes."""
        return self._room.clear()

    def make_room(self) -> None:
        """Remove the oldest files beyond the limit, and what killed writers left behind."""
        self._room.make_room()

    def _read(self, path: str, key: ArtifactKey, check: Check | None) -> NDArray[Any] | None:
        file = self._open.get(path)
        if file is not None and file.closed:
            file = None
        section = None if file is None else _find(file, key)
        if file is None or section is None:
            try:
                newer = open_file(path)
            except _NOT_THERE:
                return None
            if file is not None and newer.identity == file.identity:
                return None
            file, section = newer, _find(newer, key)
            self._open[path] = file
            if section is None:
                return None
        verify(file, section)
        array = file.array(section.dtype, section.shape, section.start)
        if check is not None:
            check(array)
        file.release_pages(0, file.size)
        return array

    def _write(self, path: str, level_hash: str, new: list[_Part]) -> bool:
        """Write a new file; False if another process wrote one meanwhile, whose arrays it would lose."""
        old, kept = self._kept(path, level_hash, [section for section, _ in new])
        # The kernel maps what lies around a page along with it: what is small, and used most, stands together.
        parts = sorted([*kept, *new], key=lambda part: part[0].nbytes)
        sections = place(section for section, _ in parts)
        with self._room.temporary(os.path.dirname(path), sections[-1].end) as (temporary, file):
            file.write(pack_head(level_hash, sections))
            for _, data in parts:
                file.write(data.data)
                file.write(padding_of(data.nbytes))
            file.flush()
            os.fsync(file.fileno())
            if _identity(path) != (None if old is None else old.identity):
                return False
            os.replace(temporary, path)
        return True

    def _kept(self, path: str, level_hash: str, new: list[Section]) -> tuple[OpenFile | None, list[_Part]]:
        """The present file of a level, and what of it belongs into its next one."""
        try:
            file = open_file(path)
            kept = []
            for section in _sections(file, level_hash):
                if not any(section.replaces(other) for other in new):
                    verify(file, section)
                    kept.append((section, file.span(section.start, section.start + section.nbytes)))
        except _NOT_THERE:
            return None, []
        except (DamagedArtifactError, OSError) as error:
            if _is_no_damage(error):
                raise
            self._set_aside(path)
            return None, []
        return file, kept if len(kept) + len(new) <= MOST_SECTIONS else []

    def _set_aside(self, path: str) -> None:
        """Move a file out of the way, whatever it is; one that cannot be moved is met again."""
        self._open.pop(path, None)
        with contextlib.suppress(OSError):
            os.replace(path, path.removesuffix(SUFFIX) + DAMAGED_SUFFIX)


def verify(file: OpenFile, section: Section) -> None:
    """Compare a section with its checksum.

    Raises:
        DamagedArtifactError: It does not fit.
    """
    if checksum(file.span(section.start, section.end).data) != section.digest:
        raise DamagedArtifactError(f"the checksum of {section.name} does not fit")


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _is_no_damage(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in _NOT_DAMAGE


def _sections(file: OpenFile, level_hash: str) -> tuple[Section, ...]:
    return parse_head(file.span(0, HEAD_LIMIT_BYTES).tobytes(), file.size, level_hash)


def _mark(section: Section) -> bytes:
    return checksum(b"%s %s %d %s" % (section.name.encode(), section.variant, section.version, section.digest))


def _find(file: OpenFile, key: ArtifactKey) -> Section | None:
    return next((section for section in _sections(file, key.level_hash) if section.holds(key)), None)


def _contents(path: str, level_hash: str) -> tuple[tuple[str, int], ...]:
    try:
        return tuple((section.name, section.nbytes) for section in _sections(open_file(path), level_hash))
    except (DamagedArtifactError, OSError):
        return ()


def _path_in(folder: str, level_hash: str) -> str:
    return f"{folder}{os.sep}{level_hash[:2]}{os.sep}{level_hash}{SUFFIX}"


def _identity(path: str) -> tuple[int, int] | None:
    try:
        return identity_of(os.stat(path, follow_symlinks=False))
    except OSError:
        return None
