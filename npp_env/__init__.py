"""npp_env: a fast, exact and tiny Gymnasium environment for the platformer N++."""

from __future__ import annotations

__version__ = "0.1.0"
