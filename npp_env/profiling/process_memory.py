"""Readings of this process's memory: cheap ones from the kernel's files, the rest through psutil.

RSS costs a few microseconds. USS and PSS make the kernel walk the page tables: a millisecond for a few
hundred megabytes, more for large processes; callers decide how often they can afford that.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROC_ROOT = Path("/proc")
MEBIBYTE = 2**20
_ROLLUP_LINE = re.compile(rb"^(Rss|Pss|Private_\w+): +(\d+) kB", re.MULTILINE)

# CPython hands small objects out of its own arenas. Their mean size in a numerical program is near this; it
# serves to weigh blocks against malloc bytes when growth is attributed, never as a measured size.
TYPICAL_PYTHON_BLOCK_BYTES = 80


@dataclass(frozen=True, slots=True)
class PageMemory:
    """Resident, unique and proportional set size in bytes.

    `dirty_bytes` are the unique pages that the process has written to: unlike the rest of USS they do not change when
    another process maps the same files, or when the kernel takes pages of files back.
    """

    rss_bytes: int
    uss_bytes: int
    pss_bytes: int
    dirty_bytes: int


def read_rss_bytes(proc_root: Path = PROC_ROOT) -> int:
    """Resident set size: every page of this process that is in RAM, shared ones included."""
    try:
        with open(f"{proc_root}/self/statm", "rb", buffering=0) as file:
            return int(file.read().split()[1]) * _page_bytes()
    except FileNotFoundError:
        return int(_psutil_process().memory_info().rss)


def read_page_memory(proc_root: Path = PROC_ROOT) -> PageMemory:
    """RSS, USS and PSS from one walk of the page tables."""
    try:
        with open(f"{proc_root}/self/smaps_rollup", "rb") as file:
            return parse_smaps_rollup(file.read())
    except FileNotFoundError:
        info = _psutil_process().memory_full_info()
        return PageMemory(int(info.rss), int(info.uss), int(getattr(info, "pss", info.uss)), int(info.uss))


def parse_smaps_rollup(text: bytes) -> PageMemory:
    r"""Parse the content of /proc/PID/smaps_rollup.

    Example:
        >>> lines = (b"Rss: 8 kB", b"Pss: 6 kB", b"Private_Clean: 1 kB", b"Private_Dirty: 3 kB")
        >>> parse_smaps_rollup(bytes([10]).join(lines)).uss_bytes
        4096
    """
    kilobytes = {name: int(size) for name, size in _ROLLUP_LINE.findall(text)}
    private = sum(size for name, size in kilobytes.items() if name.startswith(b"Private_"))
    rss, pss, dirty = (kilobytes.get(name, 0) for name in (b"Rss", b"Pss", b"Private_Dirty"))
    return PageMemory(rss * 1024, private * 1024, pss * 1024, dirty * 1024)


def read_traced_bytes() -> int | None:
    """Bytes of live Python allocations, or None while tracemalloc does not trace."""
    tracer = _running_tracer()
    return None if tracer is None else int(tracer.get_traced_memory()[0])


def read_tracer_bytes() -> int:
    """Bytes that tracemalloc takes for its own tables; 0 while it does not trace."""
    tracer = _running_tracer()
    return 0 if tracer is None else int(tracer.get_tracemalloc_memory())


def read_heap_bytes() -> int | None:
    """Bytes that the C heap has handed out and not got back (glibc), or None where it cannot be asked.

    Unlike RSS this does not count memory that was freed but kept by the allocator, so it says in which phase
    an allocation stayed, not in which phase the process happened to touch new pages.
    """
    mallinfo = _mallinfo()
    if mallinfo is None:
        return None
    info = mallinfo()
    return int(info.uordblks) + int(info.hblkhd)


def read_in_use_bytes() -> int:
    """C heap plus Python's own blocks: the best cheap estimate; RSS where the heap cannot be asked."""
    heap = read_heap_bytes()
    if heap is None:
        return read_rss_bytes()
    return heap + sys.getallocatedblocks() * TYPICAL_PYTHON_BLOCK_BYTES


class _MallInfo2(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    )


def _running_tracer() -> Any:
    tracemalloc = sys.modules.get("tracemalloc")
    return tracemalloc if tracemalloc is not None and tracemalloc.is_tracing() else None


@functools.cache
def _mallinfo() -> Callable[[], Any] | None:
    """The C library's mallinfo2 (glibc 2.33 and later)."""
    if not sys.platform.startswith("linux"):
        return None
    function: Any = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if function is None:
        return None
    function.restype = _MallInfo2
    function.argtypes = ()
    return function  # type: ignore[no-any-return]


@functools.cache
def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _psutil_process() -> Any:
    return importlib.import_module("psutil").Process()
