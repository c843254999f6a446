"""Arrays in `.npy` files that anyone may have made."""

from __future__ import annotations

import io
import math
import os
import tokenize
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError, printable
from npp_env.level.files import read_bounded

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_PLAIN_KINDS = "biuf"


def load_npy(path: str | os.PathLike[str], limit_bytes: int, error_type: type[NppError]) -> NDArray[Any]:
    """The array of numbers in a `.npy` file; a read-only array.

    The size that its header announces is compared with the size of the file before anything is allocated.

    Args:
        path: The file.
        limit_bytes: Most bytes that it may have.
        error_type: What is raised if it is no such file.
    """
    try:
        return array_of_npy(read_bounded(path, limit_bytes, error_type))
    except ValueError as error:
        if isinstance(error, NppError):
            raise
        raise error_type(f"{os.fspath(path)}: not a .npy file of numbers: {printable(str(error))}") from error


def array_of_npy(data: bytes) -> NDArray[Any]:
    """The array of numbers in the bytes of a `.npy` file; a read-only view of them.

    Raises:
        ValueError: They are no such file.
    """
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} is not known")
    try:
        shape, by_column, dtype = _HEADERS[version](file)
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError, TypeError, KeyError) as error:
        # The header is written in Python, and NumPy lets through what fails while it is read.
        raise ValueError(f"the header cannot be read ({type(error).__name__})") from error
    if dtype.kind not in _PLAIN_KINDS:
        raise ValueError(f"it holds {dtype}")
    needed, there = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if any(length < 0 for length in shape) or needed != there:
        raise ValueError(f"the header announces {shape} of {dtype}, but {there} bytes follow")
    flat: NDArray[Any] = np.frombuffer(data, dtype, offset=file.tell())
    return flat.reshape(shape, order="F" if by_column else "C")
