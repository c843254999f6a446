"""Files that are written whole: whoever opens one finds the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

TEMPORARY = ".npp-tmp-"
"""How the names of files begin that are not finished yet; a killed writer may leave one behind."""


def write_whole(path: str | os.PathLike[str], data: bytes, *, overwrite: bool = True) -> None:
    """Write a file under another name beside its place, then put it there in one move.

    A symbolic link stays one. What is no regular file (a device, a pipe) is written directly.

    Args:
        path: Where to.
        data: All of its content.
        overwrite: Whether a file that exists may be replaced; it then keeps its permissions.

    Raises:
        FileExistsError: It exists, and may not be overwritten.
        OSError: It cannot be written; what was there is unchanged.
    """
    target = Path(os.path.realpath(path))
    try:
        present: int | None = os.stat(target).st_mode
    except FileNotFoundError:
        present = None
    if present is not None and not overwrite:
        raise FileExistsError(f"{os.fspath(path)} exists")
    if present is not None and not stat.S_ISREG(present):
        with open(target, "wb") as file:
            file.write(data)
        return
    temporary = target.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        if present is not None:
            os.chmod(temporary, stat.S_IMODE(present))
        _move(temporary, target, overwrite)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside the place of a file, for others to write to; what is there at the end replaces the file.

    The name keeps the suffix. An error or an interrupt leaves the old content, and nothing of the new.
    """
    target = Path(os.path.realpath(path))
    temporary = target.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}{target.suffix}"
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Write a file of one byte into a folder, and remove it.

    Raises:
        OSError: That is not possible.
    """
    probe = Path(folder) / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
    try:
        probe.write_bytes(b"\0")
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)


def _move(temporary: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        # A link, unlike a move, fails where another process has made the file in the meantime.
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links; the file was not there a moment ago.
        os.replace(temporary, target)
    else:
        os.unlink(temporary)
