"""Planting: replace a piece of text in a scratch copy of the tree, and put everything back."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from .faults import Fault, FaultError

# Nothing in these concerns the tests, or it is made again by them.
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "node_modules")
MADE_BY_RUNS = {"__pycache__", "build"}


def span_of(name: str, text: str) -> tuple[int, int]:
    """Where the function or class of a name stands, in Python or Cython.

    Raises:
        FaultError: There is none, or several.
    """
    heads = list(re.finditer(rf"^([ \t]*)(?:async def|def|cdef|cpdef|class)\b[^\n=(]*\b{name}\b[ \t]*[(:]", text, re.M))
    if len(heads) != 1:
        raise FaultError(f"{len(heads)} functions or classes are named {name!r}; there must be exactly one")
    head = heads[0]
    indent = len(head[1].expandtabs())
    end = text.find("\n", head.end())
    while 0 <= end < len(text) - 1:
        stop = text.find("\n", end + 1)
        line = text[end + 1 : stop if stop >= 0 else len(text)]
        # A signature of several lines is closed at the indentation of its head.
        if line.strip() and len(line) - len(line.lstrip()) <= indent and not line.lstrip().startswith(")"):
            return head.start(), end
        end = stop
    return head.start(), len(text)


def place_of(fault: Fault, text: str) -> int:
    """Offset of the text that a fault replaces.

    Raises:
        FaultError: It does not occur exactly once, or the fault changes nothing.
    """
    if fault.old == fault.new:
        raise FaultError("old and new are the same")
    start, end = span_of(fault.within, text) if fault.within else (0, len(text))
    count = text.count(fault.old, start, end)
    if count != 1:
        where = f"{fault.within} of {fault.source}" if fault.within else fault.source
        raise FaultError(f"{fault.old!r} occurs {count} times in {where}; it must occur exactly once")
    return text.index(fault.old, start, end)


def read_source(fault: Fault, root: Path) -> str:
    """The text of the file that a fault is planted in.

    Raises:
        FaultError: The file does not exist.
    """
    try:
        return (root / fault.source).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FaultError(f"{fault.source} does not exist") from error


def line_of(fault: Fault, root: Path) -> int:
    """The line that a fault is planted in, counted from 1; 0 if its anchor is stale."""
    try:
        text = read_source(fault, root)
        return text.count("\n", 0, place_of(fault, text)) + 1
    except FaultError:
        return 0


class ScratchTree:
    """A copy of a tree in which faults are planted.

    Args:
        pristine: What is copied: sources, tests and the binaries built from them; it is not changed.
        folder: Where the copy goes; must not exist.
    """

    def __init__(self, pristine: Path, folder: Path) -> None:
        self.pristine = pristine
        self.folder = folder
        self._planted = 0
        copy_tree(pristine, folder)
        self._stamps = dict(self._present())

    def plant(self, fault: Fault) -> None:
        """Put a fault in.

        Raises:
            FaultError: Its anchor is stale, or what stands there instead is no Python.
        """
        text = read_source(fault, self.folder)
        at = place_of(fault, text)
        path = self.folder / fault.source
        path.write_text(text[:at] + fault.new + text[at + len(fault.old) :], encoding="utf-8")
        # Python takes a cached bytecode file for fresh if size and second fit, so that every planting gets its own.
        self._planted += 1
        second = self._stamps[fault.source][0] // 10**9 + 10 * self._planted
        os.utime(path, (second, second))

    def restore(self) -> None:
        """Bring everything back that differs from the pristine tree, and remove what it does not have."""
        present = dict(self._present())
        for name, stamp in present.items():
            if name not in self._stamps:
                (self.folder / name).unlink()
            elif stamp != self._stamps[name]:
                self._fetch(name)
        for name in self._stamps.keys() - present.keys():
            self._fetch(name)

    def _fetch(self, name: str) -> None:
        path = self.folder / name
        # Never written into: a binary may still be mapped by a process that is about to end.
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.pristine / name, path)

    def _present(self):
        """Every file by its relative name, with the time of its last change and its size."""
        for folder, names, files in os.walk(self.folder):
            names[:] = [name for name in names if name not in MADE_BY_RUNS]
            for file in files:
                path = Path(folder, file)
                status = path.stat()
                yield path.relative_to(self.folder).as_posix(), (status.st_mtime_ns, status.st_size)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a tree with its binaries, but without what editors, builds and test runs leave."""
    shutil.copytree(source, target, ignore=LEFT_OUT)
