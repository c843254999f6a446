"""Arrays in `.npy` files of their own: written row by row, checked when they are opened, mapped read-only.

A header always has 128 bytes, and a manifest elsewhere says what it must be. So a file is compared, never parsed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from npp_env.induction.errors import DamagedStoreError, DiskFullError
from npp_env.level.cache_file import DamagedArtifactError, running_checksum
from npp_env.level.cache_mapping import OpenFile, open_file
from npp_env.level.whole_file import TEMPORARY

HEADER_BYTES = 128
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CHECKED_BYTES = 1 << 22
"""Bytes that are looked at before their pages are let go of."""


class ArrayRecord(NamedTuple):
    """What a manifest says of an array."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    checksum: str

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@contextlib.contextmanager
def noticing_a_full_disk(folder: Path) -> Iterator[None]:
    """Say what a full disk means.

    Raises:
        DiskFullError: Something could not be written for lack of room.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM or isinstance(error, DiskFullError):
            raise
        raise DiskFullError(
            f"{folder}: {os.strerror(error.errno or 0)}; what was complete is kept: make room and call again with the "
            f"same folder"
        ) from error


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The first bytes of the file of an array."""
    buffer = io.BytesIO()
    described = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, described)
    header = buffer.getvalue()
    if len(header) < HEADER_BYTES:
        # The format fills headers up with spaces, and takes more of them.
        header = header[:8] + (HEADER_BYTES - 10).to_bytes(2, "little") + header[10:-1].ljust(HEADER_BYTES - 11) + b"\n"
    if len(header) != HEADER_BYTES:
        raise ValueError(f"an array of shape {shape} cannot be stored")
    return header


class ArrayWriter:
    """Writes an array under a temporary name, some rows at a time.

    Args:
        folder: Where to.
        name: Name of the array; its file gets the suffix `.npy`.
        dtype: Of its numbers.
        row_shape: Shape of a row.
    """

    def __init__(self, folder: Path, name: str, dtype: DTypeLike, row_shape: tuple[int, ...] = ()) -> None:
        self.name, self.rows = name, 0
        self._folder, self._dtype, self._row_shape = folder, np.dtype(dtype), row_shape
        self.path = folder / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
        self._checksum = running_checksum()
        with noticing_a_full_disk(folder):
            # Nobody but the owner may write to what is going to be mapped.
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
            self._file = os.fdopen(descriptor, "wb")
            try:
                self._file.write(bytes(HEADER_BYTES))
            except BaseException:
                self.discard()
                raise

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows behind the others.

        Raises:
            DiskFullError: They could not be written; `discard` removes the file.
        """
        assert rows.shape[1:] == self._row_shape, (rows.shape, self._row_shape)
        if not len(rows):
            return
        data = np.ascontiguousarray(rows, self._dtype).reshape(-1).view(np.uint8).data
        with noticing_a_full_disk(self._folder):
            self._file.write(data)
        self._checksum.update(data)
        self.rows += len(rows)

    def flush(self) -> None:
        """Let what was written be read through the file."""
        with noticing_a_full_disk(self._folder):
            self._file.flush()

    def complete(self) -> ArrayRecord:
        """Write the header and put the file into its place; returns what the manifest has to say of it."""
        shape = (self.rows, *self._row_shape)
        with noticing_a_full_disk(self._folder):
            self._file.seek(0)
            self._file.write(npy_header(self._dtype.str, shape))
            self._file.flush()
            self._file.close()
            os.replace(self.path, self._folder / f"{self.name}.npy")
        return ArrayRecord(f"{self.name}.npy", self._dtype.str, shape, self._checksum.hexdigest())

    def discard(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


class MappedArray:
    """An array in a file, read-only.

    Args:
        path: The file.
        record: What it must be; of a file that is still written, what it is so far.
        verify: Whether to compare all of it with its checksum.

    Attributes:
        array: The array; it stays valid for as long as anyone holds it.

    Raises:
        DamagedStoreError: The file is not what was written.
    """

    def __init__(self, path: Path, record: ArrayRecord, verify: bool) -> None:
        self._record = record
        try:
            self._file: OpenFile = open_file(str(path))
        except (FileNotFoundError, DamagedArtifactError) as error:
            raise DamagedStoreError(f"{path}: {error}; remove the folder and compute it again") from error
        if verify:
            self._verify(path)
        self.array: NDArray[Any] = self._file.array(record.dtype, record.shape, HEADER_BYTES)

    def _verify(self, path: Path) -> None:
        record, file = self._record, self._file
        if file.size != HEADER_BYTES + record.nbytes:
            raise DamagedStoreError(
                f"{path} has {file.size} bytes, {HEADER_BYTES + record.nbytes} were written; remove the folder and "
                f"compute it again"
            )
        total = running_checksum()
        for first in range(HEADER_BYTES, file.size, _CHECKED_BYTES):
            last = min(first + _CHECKED_BYTES, file.size)
            total.update(file.span(first, last).data)
            file.release_pages(first, last)
        header = file.span(0, HEADER_BYTES).tobytes()
        if header != npy_header(record.dtype, record.shape) or total.hexdigest() != record.checksum:
            raise DamagedStoreError(f"{path}: its checksum does not fit; remove the folder and compute it again")

    def release(self) -> None:
        """Let go of the pages that were looked at."""
        self._file.release_pages(0, self._file.size)
