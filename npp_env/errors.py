"""Every error that npp_env raises on purpose."""

from __future__ import annotations


class NppError(Exception):
    """Base of all errors raised by npp_env."""


class LevelError(NppError, ValueError):
    """A level file or text that cannot be read; the message says where and what."""


class RecordingError(NppError, ValueError):
    """A recording that cannot be read, or that does not belong to the level it is played on."""


class StateError(NppError, ValueError):
    """A saved state that is foreign, truncated, or of another level or version."""


class ConfigError(NppError, ValueError):
    """A configuration value that is not allowed; the message names the field and what it takes."""


class ArgumentNameError(ConfigError, TypeError):
    """A keyword argument that does not exist; a `TypeError`, as Python raises for functions with fixed arguments."""


class KernelError(NppError, RuntimeError):
    """The compiled kernel does not fit the sources beside it."""
