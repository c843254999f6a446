"""A sequence of levels that are named at once and loaded one by one."""

from __future__ import annotations

import glob
import importlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Union

from npp_env.errors import LevelError
from npp_env.level.files import BINARY_SUFFIX, TEXT_SUFFIX, load_level
from npp_env.level.model import Level
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.level.validation import shorten

SHIPPED = "shipped"
DEFAULT_CAPACITY = 256
"""Loaded levels that a set keeps at least as long as they are in use."""

LevelSource = Union[str, "os.PathLike[str]", Level, Callable[[int], Level], "LevelSet", Sequence[Any], None]
"""What `LevelSet.parse` takes; strings and lists of strings can be written as JSON."""
SchemeFactory = Callable[[str], "LevelSet | Callable[[int], Level]"]

_schemes: dict[str, SchemeFactory] = {}
_SCHEME_HOMES = {"generated": "npp_env.level.generate"}
"""Modules that register a scheme when they are imported, which happens when it is first asked for."""
_WILDCARDS = frozenset("*?[")


def register_scheme(name: str, factory: SchemeFactory) -> None:
    """Let `LevelSet.parse` understand `NAME:REST`; the factory gets the rest, once per `parse`.

    Args:
        name: At least two letters, so that a drive letter stays a path.
        factory: Returns a `LevelSet`, or a function from a seed to a level (an endless set).
    """
    if len(name) < 2 or not name.isidentifier() or name == SHIPPED:
        raise LevelError(f"scheme {name!r}: use a word of at least two letters, other than {SHIPPED!r}")
    _schemes[name] = factory


class LevelSet(Sequence[Level]):
    """Levels in a stable order, each loaded when it is asked for.

    Args:
        entries: Shipped names (`shipped:...`), paths or levels; or a function from an index to a level, which makes the
            set endless.
        names: What to call the entries; derived from them if None.
        capacity: How many loaded levels are kept.

    Example:
        >>> levels = LevelSet.parse("shipped:first_steps")
        >>> levels.names()[0], levels[0].metadata["group"]
        ('first_steps/fall', 'first_steps')
    """

    def __init__(
        self,
        entries: Sequence[str | Path | Level] | Callable[[int], Level],
        names: Sequence[str] | None = None,
        capacity: int = DEFAULT_CAPACITY,
    ) -> None:
        if capacity < 1:
            raise LevelError(f"capacity is {capacity}; it must be at least 1")
        self._make = entries if callable(entries) else None
        self._entries: tuple[str | Path | Level, ...] = () if callable(entries) else tuple(entries)
        if names is not None and len(names) != len(self._entries):
            raise LevelError(f"{len(names)} names for {len(self._entries)} levels")
        self._names = None if names is None else tuple(names)
        self._capacity = capacity
        self._loaded: OrderedDict[int, Level] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def parse(cls, source: LevelSource) -> LevelSet:
        """Open whatever names levels.

        Args:
            source: None or `shipped` for all shipped levels, `shipped:GROUP`, `shipped:GROUP/NAME`, a file, a folder
                (all level files below it), a glob, a level, a function from a seed to a level, a registered
                `SCHEME:...`, a set, or a list of these.

        Raises:
            LevelError: It names no level.
        """
        if isinstance(source, LevelSet):
            return source
        if source is None:
            return cls.parse(SHIPPED)
        if isinstance(source, Level):
            return cls([source])
        if isinstance(source, (str, os.PathLike)):
            return _parse_name(os.fspath(source))
        if callable(source):
            return cls(source)
        if not isinstance(source, Sequence):
            raise LevelError(f"{shorten(source)} names no levels; give a path, a glob, {SHIPPED!r}, or a list of these")
        parts = [cls.parse(part) for part in source]
        if not all(part.is_finite for part in parts):
            if len(parts) == 1:
                return parts[0]
            raise LevelError(f"{shorten(source)}: an endless set cannot be one of several")
        entries = [entry for part in parts for entry in part._entries]
        if not entries:
            raise LevelError("an empty list of levels; name at least one")
        return cls(entries, [name for part in parts for name in part.names()])

    @property
    def is_finite(self) -> bool:
        """Whether the set has an end."""
        return self._make is None

    def __len__(self) -> int:
        if self._make is not None:
            raise LevelError("this set of levels has no end; check `is_finite` before its length")
        return len(self._entries)

    def __bool__(self) -> bool:
        return self._make is not None or len(self._entries) > 0

    def names(self) -> list[str]:
        """Names in order, without loading anything; a fresh list.

        Raises:
            LevelError: The set has no end.
        """
        if self._names is not None:
            return list(self._names)
        return [_name_of(entry, index) for index, entry in enumerate(self._entries[: len(self)])]

    def name_of(self, index: int) -> str:
        """Name of one level."""
        if self._make is not None:
            return f"level {index}"
        return self._names[index] if self._names is not None else _name_of(self._entries[index], index)

    def __getitem__(self, index: Any) -> Any:
        """Level number `index`, loaded if need be; a slice gives a list.

        Raises:
            IndexError: There is no such level.
            LevelError: The level cannot be loaded.
        """
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = int(index)
        if self.is_finite:
            count = len(self._entries)
            if not -count <= index < count:
                raise IndexError(f"level {index} of {count}")
            index %= count
        elif index < 0:
            raise IndexError(f"level {index} of an endless set; count from 0")
        with self._lock:
            level = self._loaded.get(index)
            if level is not None:
                self._loaded.move_to_end(index)
                return level
        level = self._load(index)
        with self._lock:
            self._loaded[index] = level
            while len(self._loaded) > self._capacity:
                self._loaded.popitem(last=False)
        return level

    def __iter__(self) -> Iterator[Level]:
        if not self.is_finite:
            raise LevelError("this set of levels has no end; ask for levels by number")
        for index in range(len(self._entries)):
            yield self[index]

    def __contains__(self, level: object) -> bool:
        return isinstance(level, Level) and any(level == other for other in self)

    def __repr__(self) -> str:
        if not self.is_finite:
            return f"<LevelSet without end from {self._make!r}>"
        return f"<LevelSet of {len(self)}, {len(self._loaded)} loaded>"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"], state["_loaded"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loaded = OrderedDict()
        self._lock = threading.Lock()

    def _load(self, index: int) -> Level:
        if self._make is not None:
            level = self._make(index)
            if not isinstance(level, Level):
                raise LevelError(f"level {index}: the function returned {type(level).__name__}, not a Level")
            return level
        entry = self._entries[index]
        if isinstance(entry, Level):
            return entry
        return load_level(entry) if isinstance(entry, Path) else load_shipped(entry)


def _name_of(entry: str | Path | Level, index: int) -> str:
    if isinstance(entry, Level):
        return entry.name or f"level {index}"
    return entry.as_posix() if isinstance(entry, Path) else entry


def _parse_name(text: str) -> LevelSet:
    scheme, colon, rest = text.partition(":")
    if scheme == SHIPPED:
        return LevelSet(_shipped_names(rest, text))
    if colon and scheme in _SCHEME_HOMES:
        importlib.import_module(_SCHEME_HOMES[scheme])
    if colon and scheme in _schemes:
        made = _schemes[scheme](rest)
        return made if isinstance(made, LevelSet) else LevelSet(made)
    path = Path(text).expanduser()
    if path.is_dir():
        found = [p for p in path.rglob("*") if p.suffix in (TEXT_SUFFIX, BINARY_SUFFIX) and p.is_file()]
        return _from_paths(found, f"{text}: no level files (*{TEXT_SUFFIX}, *{BINARY_SUFFIX}) in this folder")
    if path.is_file():
        return LevelSet([path])
    if _WILDCARDS & set(text):
        found = [p for p in map(Path, glob.glob(os.fspath(path), recursive=True)) if p.is_file()]
        return _from_paths(found, f"{text}: the pattern fits no file")
    if text in shipped_level_names():
        return LevelSet([text])
    known = ", ".join([SHIPPED, *sorted({*_SCHEME_HOMES, *_schemes})])
    raise LevelError(
        f"{shorten(text)}: no such file or folder, no shipped level, and none of the schemes {known} "
        f"(as in 'shipped:first_steps')"
    )


def _from_paths(paths: list[Path], complaint: str) -> LevelSet:
    if not paths:
        raise LevelError(complaint)
    paths.sort(key=lambda path: path.as_posix())
    return LevelSet(paths)


def _shipped_names(rest: str, text: str) -> list[str]:
    """Shipped names that are the given one, or lie in the given group; all for an empty string."""
    names = shipped_level_names()
    found = [name for name in names if not rest or name == rest or name.startswith(rest + "/")]
    if not found:
        groups = sorted({name.partition("/")[0] for name in names})
        raise LevelError(f"{shorten(text)}: no shipped level or group of this name; the groups are {', '.join(groups)}")
    return found
