"""Which parts of the code an input reached for the first time: lines of Python, edges of compiled code."""

from __future__ import annotations

import ctypes
import sys
from types import CodeType, FrameType
from typing import Any

import numpy as np

MAP_BYTES = 1 << 16


class LineCoverage:
    """Counts lines of some modules that ran for the first time; what was seen costs little from then on.

    Args:
        folder: Part of the path of the files whose lines count.
    """

    def __init__(self, folder: str) -> None:
        self.lines = 0
        self._folder = folder
        self._unseen: dict[CodeType, set[int]] = {}
        self._monitoring: Any = getattr(sys, "monitoring", None)  # since Python 3.12
        if self._monitoring is not None:
            self._monitoring.use_tool_id(self._monitoring.COVERAGE_ID, "fuzz")
            self._monitoring.register_callback(
                self._monitoring.COVERAGE_ID, self._monitoring.events.LINE, self._on_line
            )

    def start(self) -> None:
        """Look from here on."""
        if self._monitoring is not None:
            self._monitoring.set_events(self._monitoring.COVERAGE_ID, self._monitoring.events.LINE)
        else:
            sys.settrace(self._on_call)

    def stop(self) -> None:
        """Look away."""
        if self._monitoring is not None:
            self._monitoring.set_events(self._monitoring.COVERAGE_ID, 0)
        else:
            sys.settrace(None)

    def close(self) -> None:
        """Give back what only one in a process can have."""
        self.stop()
        if self._monitoring is not None:
            self._monitoring.free_tool_id(self._monitoring.COVERAGE_ID)

    def _on_line(self, code: CodeType, line: int) -> Any:
        self.lines += self._folder in code.co_filename
        return self._monitoring.DISABLE

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        unseen = self._unseen.get(code)
        if unseen is None:
            lines = {line for _, _, line in code.co_lines() if line} if self._folder in code.co_filename else set()
            unseen = self._unseen[code] = lines
        return self._in_frame if unseen else None

    def _in_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        unseen = self._unseen[frame.f_code]
        if frame.f_lineno in unseen:
            unseen.discard(frame.f_lineno)
            self.lines += 1
        return self._in_frame


class EdgeCoverage:
    """Counts edges between basic blocks of the compiled code, where it was built to tell them."""

    def __init__(self) -> None:
        self.edges = 0
        self._map: np.ndarray | None = None
        try:
            address = ctypes.CDLL(None).npp_coverage_map
        except AttributeError:
            return
        address.restype = ctypes.POINTER(ctypes.c_uint8)
        self._map = np.ctypeslib.as_array(address(), (MAP_BYTES,))
        self._seen = np.zeros(MAP_BYTES, np.uint8)

    @property
    def present(self) -> bool:
        return self._map is not None

    def begin(self) -> None:
        if self._map is not None:
            self._map.fill(0)

    def end(self) -> None:
        if self._map is not None:
            fresh = self._map > self._seen
            found = int(np.count_nonzero(fresh))
            if found:
                self._seen |= self._map
                self.edges += found
