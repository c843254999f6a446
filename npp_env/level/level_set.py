"""A sequence of levels that are named at once and loaded one by one."""

from __future__ import annotations

import glob
import importlib
import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError, LevelWarning, printable
from npp_env.level.facts import counts_in, facts_of, types_in
from npp_env.level.files import load_level
from npp_env.level.model import Level
from npp_env.level.pack_files import SCHEME as PACK
from npp_env.level.pack_files import PackEntry, choose_entry, open_pack
from npp_env.level.shipped import load_shipped, shipped_facts, shipped_level_names, suggestion, verified_level_names
from npp_env.level.survey import LEVEL_SUFFIXES, Survey, survey_files, survey_folder
from npp_env.level.validation import shorten

SHIPPED = "shipped"
VERIFIED = "verified"
"""Behind `shipped:`, the levels in which everything rests on recordings of the real game."""
DEFAULT_CAPACITY = 256
"""Loaded levels that a set keeps at least as long as they are in use."""

LevelSource = Union[str, "os.PathLike[str]", Level, Callable[[int], Level], "LevelSet", Sequence[Any], None]
"""What `LevelSet.parse` takes; strings and lists of strings can be written as JSON."""


class MadeEntry(NamedTuple):
    """A level that a function makes when it is asked for."""

    make: Callable[[int], Level]
    number: int

    @property
    def label(self) -> str:
        """The name that the function has for it, or its number."""
        name_of = getattr(self.make, "name_of", None)
        return f"level {self.number}" if name_of is None else str(name_of(self.number))

    def load(self) -> Level:
        """Make the level.

        Raises:
            LevelError: The function returned something else.
        """
        level = self.make(self.number)
        if not isinstance(level, Level):
            raise LevelError(f"level {self.number}: the function returned {type(level).__name__}, not a Level")
        return level


Entry = str | Path | PackEntry | MadeEntry | Level
"""A level of a set: a shipped name, a file, a level of a pack, one that is made, or the level itself."""
SchemeFactory = Callable[[str], "LevelSet | Callable[[int], Level]"]

_schemes: dict[str, SchemeFactory] = {}
_SCHEME_HOMES = {"generated": "npp_env.level.generate", "mirrored": "npp_env.level.mirrored_sets"}
"""Modules that register a scheme when they are imported, which happens when it is first asked for."""
_WILDCARDS = frozenset("*?[")
_NAMED_FILES = 3
"""Of the files that are left out, how many a warning names."""


def register_scheme(name: str, factory: SchemeFactory) -> None:
    """Let `LevelSet.parse` understand `NAME:REST`; the factory gets the rest, once per `parse`.

    Args:
        name: At least two letters, so that a drive letter stays a path.
        factory: Returns a `LevelSet`, or a function from a seed to a level (an endless set).
    """
    if len(name) < 2 or not name.isidentifier() or name in (SHIPPED, PACK):
        raise LevelError(f"scheme {name!r}: use a word of at least two letters, other than {SHIPPED!r} and {PACK!r}")
    _schemes[name] = factory


class LevelSet(Sequence[Level]):
    """Levels in a stable order, each loaded when it is asked for.

    Args:
        entries: Shipped names (`shipped:...`), paths, levels of packs, or levels; or a function from an index to a
            level, which makes the set endless unless the function has a `count`.
        names: What to call the entries; derived from them if None.
        capacity: How many loaded levels are kept.
        surveys: What is known of files among the entries, in their order.

    Example:
        >>> levels = LevelSet.parse("shipped:first_steps")
        >>> levels.names()[0], levels[0].metadata["group"]
        ('first_steps/fall', 'first_steps')
    """

    def __init__(
        self,
        entries: Sequence[Entry] | Callable[[int], Level],
        names: Sequence[str] | None = None,
        capacity: int = DEFAULT_CAPACITY,
        surveys: Sequence[Survey] = (),
    ) -> None:
        if capacity < 1:
            raise LevelError(f"capacity is {capacity}; it must be at least 1")
        self._make = entries if callable(entries) else None
        self._made_count: int | None = getattr(self._make, "count", None)
        self._entries: tuple[Entry, ...] = () if callable(entries) else tuple(entries)
        if names is not None and len(names) != len(self._entries):
            raise LevelError(f"{len(names)} names for {len(self._entries)} levels")
        self._names = None if names is None else tuple(names)
        self._capacity = capacity
        self._surveys = tuple(surveys)
        self._types: tuple[int, ...] | None = None
        self._loaded: OrderedDict[int, Level] = OrderedDict()

    @classmethod
    def parse(cls, source: LevelSource) -> LevelSet:
        """Open whatever names levels.

        Args:
            source: None or `shipped` for all shipped levels, `shipped:verified` for those without unverified entities,
                `shipped:GROUP`, `shipped:GROUP/NAME`, a file (a level or a pack), a folder (all level files below it),
                a glob, `pack:FILE`, `pack:FILE#12` (the number counts from 0), `pack:FILE#NAME`, a level, a function
                from a seed to a level, a registered `SCHEME:...`, a set, or a list of these.

        Files are read once, here, to see that they are levels. What is none in a folder or behind a glob is left out,
        with a `LevelWarning`; see `left_out`.

        Raises:
            LevelError: It names no level, or a file that is none.
        """
        if isinstance(source, LevelSet):
            return source
        if source is None:
            return cls.parse(SHIPPED)
        if isinstance(source, Level):
            return cls([source])
        if isinstance(source, (str, os.PathLike)):
            try:
                return _parse_name(os.fspath(source))
            except OSError as error:
                raise LevelError(f"{shorten(os.fspath(source))}: cannot be looked for: {error.strerror}") from error
        if callable(source):
            return cls(source)
        if not isinstance(source, Sequence):
            raise LevelError(f"{shorten(source)} names no levels; give a path, a glob, {SHIPPED!r}, or a list of these")
        parts = [cls.parse(part) for part in source]
        if not all(part.is_finite for part in parts):
            if len(parts) == 1:
                return parts[0]
            raise LevelError(f"{shorten(source)}: an endless set cannot be one of several")
        entries = [part._entry(index) for part in parts for index in range(len(part))]
        if not entries:
            raise LevelError("an empty list of levels; name at least one")
        surveys = [survey for part in parts for survey in part._surveys]
        return cls(entries, [name for part in parts for name in part.names()], surveys=surveys)

    @property
    def is_finite(self) -> bool:
        """Whether the set has an end."""
        return self._make is None or self._made_count is not None

    @property
    def is_made(self) -> bool:
        """Whether some levels do not exist before they are asked for, so that nothing is known of them."""
        return self._make is not None or any(isinstance(entry, MadeEntry) for entry in self._entries)

    @property
    def never_repeats(self) -> bool:
        """Whether every number stands for a level of its own, without end, which any process makes alike.

        What is computed from such a level is used once.
        """
        return not self.is_finite and bool(getattr(self._make, "never_repeats", False))

    def __len__(self) -> int:
        if self._make is None:
            return len(self._entries)
        if self._made_count is None:
            raise LevelError("this set of levels has no end; check `is_finite` before its length")
        return self._made_count

    def __bool__(self) -> bool:
        return self._make is not None or len(self._entries) > 0

    def names(self) -> list[str]:
        """Names in order, without loading anything; a fresh list.

        Raises:
            LevelError: The set has no end.
        """
        if self._names is not None:
            return list(self._names)
        return [self.name_of(index) for index in range(len(self))]

    @property
    def left_out(self) -> list[str]:
        """The files that were found, but are no levels, each with the reason; a fresh list."""
        return [reason for survey in self._surveys for reason in survey.left_out]

    def types(self) -> tuple[int, ...]:
        """What types of entities each level of a finite set has, as `npp_env.level.doubts.type_bits` gives them."""
        if self._types is None:
            self._types = tuple(types_in(facts) for facts in self._facts())
        return self._types

    def record_counts(self) -> NDArray[np.uint16]:
        """How many records of each type below 40 the levels of a finite set have; a fresh array (n, 40)."""
        return np.array([counts_in(facts) for facts in self._facts()])

    def name_of(self, index: int) -> str:
        """Name of one level."""
        return self._names[index] if self._names is not None else _name_of(self._entry(index), index)

    def find(self, other: LevelSet) -> int | None:
        """The number of the one level of another set in this one; None if it is not in it. Nothing is loaded."""
        wanted = other._entry(0)
        if self._make is not None:
            inside = isinstance(wanted, MadeEntry) and wanted.make == self._make
            return wanted.number if inside else None  # type: ignore[union-attr]
        return next((number for number, entry in enumerate(self._entries) if _is_same(entry, wanted)), None)

    def _entry(self, index: int) -> Entry:
        return self._entries[index] if self._make is None else MadeEntry(self._make, index)

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
            count = len(self)
            if not -count <= index < count:
                raise IndexError(f"level {index} of {count}")
            index %= count
        elif index < 0:
            raise IndexError(f"level {index} of an endless set; count from 0")
        # No lock, which a fork or an interrupt could leave taken: each of these operations is one for all threads.
        level = self._loaded.get(index)
        if level is None:
            level = self._load(index)
            self._loaded[index] = level
            while len(self._loaded) > self._capacity:
                self._loaded.popitem(last=False)
        else:
            # Another thread may have dropped it in between.
            with suppress(KeyError):
                self._loaded.move_to_end(index)
        return level

    def __iter__(self) -> Iterator[Level]:
        if not self.is_finite:
            raise LevelError("this set of levels has no end; ask for levels by number")
        for index in range(len(self)):
            yield self[index]

    def __contains__(self, level: object) -> bool:
        return isinstance(level, Level) and any(level == other for other in self)

    def __repr__(self) -> str:
        if not self.is_finite:
            return f"<LevelSet without end from {self._make!r}>"
        return f"<LevelSet of {len(self)}, {len(self._loaded)} loaded>"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_loaded"]
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> LevelSet:
        # Levels do not change, and what is loaded of them is for all.
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loaded = OrderedDict()

    def _facts(self) -> Iterator[NDArray[np.uint16]]:
        """What is known of each level, from when its file was seen; others are loaded."""
        known: dict[Entry, NDArray[np.uint16]] = {
            entry: facts for s in self._surveys for entry, facts in zip(s.entries, s.facts, strict=True)
        }
        for index in range(len(self)):
            entry = self._entry(index)
            if entry in known:
                yield known[entry]
            else:
                yield shipped_facts(entry) if isinstance(entry, str) else facts_of(self._load(index))

    def _load(self, index: int) -> Level:
        entry = self._entry(index)
        if isinstance(entry, Level):
            return entry
        if isinstance(entry, (PackEntry, MadeEntry)):
            return entry.load()
        return load_level(entry) if isinstance(entry, Path) else load_shipped(entry)


def _is_same(entry: Entry, other: Entry) -> bool:
    return type(entry) is type(other) and entry == other


def _name_of(entry: Entry, index: int) -> str:
    if isinstance(entry, Level):
        return entry.name or f"level {index}"
    if isinstance(entry, (PackEntry, MadeEntry)):
        return entry.label
    return entry.as_posix() if isinstance(entry, Path) else entry


def _parse_name(text: str) -> LevelSet:
    scheme, colon, rest = text.partition(":")
    if scheme == SHIPPED:
        return LevelSet(_shipped_names(rest, text))
    if colon and scheme == PACK:
        return _parse_pack(rest)
    if colon and scheme in _SCHEME_HOMES:
        importlib.import_module(_SCHEME_HOMES[scheme])
    if colon and scheme in _schemes:
        made = _schemes[scheme](rest)
        return made if isinstance(made, LevelSet) else LevelSet(made)
    path = Path(os.path.expanduser(text))
    if path.is_dir():
        suffixes = ", ".join(f"*{suffix}" for suffix in LEVEL_SUFFIXES if suffix)
        return _from_survey(text, survey_folder(path), f"no level files ({suffixes}, maps and packs) in this folder")
    if path.is_file():
        return _from_survey(text, survey_files([path], strict=True))
    if _WILDCARDS & set(text):
        found = [p for p in map(Path, glob.glob(os.fspath(path), recursive=True)) if p.is_file()]
        return _from_survey(text, survey_files(found), "the pattern fits no file that is a level")
    if text in shipped_level_names():
        return LevelSet([text])
    known = ", ".join([SHIPPED, PACK, *sorted({*_SCHEME_HOMES, *_schemes})])
    raise LevelError(
        f"{shorten(text)}: no such file or folder, no shipped level, and none of the schemes {known} "
        f"(as in 'shipped:first_steps'); {suggestion(text)}"
    )


def _from_survey(text: str, survey: Survey, complaint: str = "") -> LevelSet:
    count = len(survey.left_out)
    reasons = "; ".join(survey.left_out[:_NAMED_FILES])
    if count > _NAMED_FILES:
        reasons += f"; and {count - _NAMED_FILES} more"
    if not survey.entries:
        raise LevelError(f"{printable(text)}: {complaint}" + (f"; left out: {reasons}" if reasons else ""))
    if reasons:
        files = f"{count} files are" if count > 1 else "a file is"
        warnings.warn(f"{printable(text)}: {files} left out: {reasons}", LevelWarning, stacklevel=4)
    return LevelSet(survey.entries, surveys=[survey])


def _parse_pack(text: str) -> LevelSet:
    """All levels of a pack, or the one behind a `#`; a name cannot hold that sign, but a path can."""
    path = Path(os.path.expanduser(text))
    if path.is_file():
        open_pack(path)  # what is no pack, but a level, is not meant
        return _from_survey(text, survey_files([path], strict=True))
    file, sign, key = text.rpartition("#")
    if not sign or not Path(file).expanduser().is_file():
        raise LevelError(f"{PACK}:{text}: no such file; write {PACK}:FILE, {PACK}:FILE#12 or {PACK}:FILE#NAME")
    entry = choose_entry(open_pack(Path(file).expanduser()), key)
    entry.load()
    return LevelSet([entry])


def _shipped_names(rest: str, text: str) -> list[str]:
    """Shipped names that are the given one, lie in the given group, or are verified; all for an empty string."""
    if rest == VERIFIED:
        return verified_level_names()
    names = shipped_level_names()
    found = [name for name in names if not rest or name == rest or name.startswith(rest + "/")]
    if not found:
        groups = sorted({name.partition("/")[0] for name in names})
        hint = suggestion(rest) if "/" in rest else f"the groups are {', '.join([*groups, VERIFIED])}"
        raise LevelError(f"{shorten(text)}: no shipped level or group of this name; {hint}")
    return found
