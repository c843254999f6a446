"""Errors of the profiler."""

from __future__ import annotations

from npp_env.errors import NppError


class ProfilingError(NppError, ValueError):
    """A profiling request that makes no sense; the message says what was given and what to give instead."""


class SnapshotError(NppError, ValueError):
    """A snapshot file that cannot be read, or that asks for more than reading plain data."""


class LowMemoryError(NppError, MemoryError):
    """The memory guard stopped a loop; what had to be saved has been saved."""
