"""How much memory is left: of the machine, and of the container's limit (cgroup version 1 and 2)."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from npp_env.profiling.process_memory import PROC_ROOT

CGROUP_ROOT = Path("/sys/fs/cgroup")

# Version 1 writes "no limit" as the largest multiple of the page size below 2**63.
NO_LIMIT_BYTES = 1 << 60


@dataclass(frozen=True, slots=True)
class Headroom:
    """Free memory against a limit.

    Attributes:
        free_bytes: What can still be taken before the limit is reached.
        limit_bytes: The limit.
        source: What sets it: "machine", or the cgroup's path.
    """

    free_bytes: int
    limit_bytes: int
    source: str

    @property
    def free_fraction(self) -> float:
        """Free share of the limit, 0 to 1."""
        return self.free_bytes / self.limit_bytes if self.limit_bytes > 0 else 0.0


def read_headroom(proc_root: Path = PROC_ROOT, cgroup_root: Path = CGROUP_ROOT) -> Headroom:
    """The tightest headroom of the machine and of every cgroup above this process."""
    candidates = [read_machine_headroom(proc_root), *read_cgroup_headrooms(proc_root, cgroup_root)]
    return min(candidates, key=lambda headroom: headroom.free_fraction)


def read_machine_headroom(proc_root: Path = PROC_ROOT) -> Headroom:
    """Free memory of the machine by the kernel's estimate (droppable page cache counts as free)."""
    fields = _read_fields(proc_root / "meminfo")
    if "MemAvailable:" in fields and "MemTotal:" in fields:
        return Headroom(fields["MemAvailable:"] * 1024, fields["MemTotal:"] * 1024, "machine")
    memory = importlib.import_module("psutil").virtual_memory()
    return Headroom(int(memory.available), int(memory.total), "machine")


def read_cgroup_headrooms(proc_root: Path = PROC_ROOT, cgroup_root: Path = CGROUP_ROOT) -> list[Headroom]:
    """Headrooms of the memory cgroups of this process and of their parents that set a limit."""
    headrooms: list[Headroom] = []
    for line in _read_text(proc_root / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2) if line.count(":") >= 2 else ("", "none", "")
        if controllers == "":
            for root in (cgroup_root, cgroup_root / "unified"):
                headrooms += _walk_up(root, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            headrooms += _walk_up(cgroup_root / "memory", path, *names)
    return headrooms


def _walk_up(root: Path, path: str, limit_name: str, usage_name: str, cache_field: str) -> list[Headroom]:
    """Headrooms from the cgroup `path` up to `root`.

    Inside a container the path is often the host's and does not exist below the mount; its root is the
    container then.
    """
    parts = [part for part in path.split("/") if part and part != ".."]
    folders = [root.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1)]
    headrooms = []
    for folder in folders:
        limit = _read_int(folder / limit_name)
        usage = _read_int(folder / usage_name)
        if limit is None or usage is None or limit >= NO_LIMIT_BYTES:
            continue
        droppable = _read_fields(folder / "memory.stat").get(cache_field, 0)
        free = max(0, min(limit, limit - usage + droppable))
        headrooms.append(Headroom(free, limit, str(folder)))
    return headrooms


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _read_int(path: Path) -> int | None:
    text = _read_text(path).strip()
    return int(text) if text.isdigit() else None


def _read_fields(path: Path) -> dict[str, int]:
    fields = {}
    for line in _read_text(path).splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].isdigit():
            fields[words[0]] = int(words[1])
    return fields
