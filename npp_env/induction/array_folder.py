"""Folders of arrays with a manifest: what the manifest names is complete, and everything else is left over.

Arrays are written under other names and moved into place; then the manifest is replaced in one move. A process that is
killed at any moment leaves what the manifest named before, or what it names then.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import DTypeLike

from npp_env.induction.array_files import ArrayRecord, ArrayWriter, MappedArray, noticing_a_full_disk
from npp_env.induction.errors import DamagedStoreError, ForeignStoreError, InductionError
from npp_env.level.cache_file import checksum
from npp_env.level.whole_file import TEMPORARY, write_whole

try:
    import fcntl
except ImportError:  # Windows: nobody notices that two processes write to one folder
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
FORMAT, VERSION = "npp_env induction", 1
_LOCK = ".lock"


class ArrayFolder:
    """One folder, for one writer at a time; as a context it lets go of the folder at the end.

    What the manifest names never changes, so that whoever reads needs no more than to have opened it.

    Args:
        path: Made if it is not there.
        identity: What the folder is for; plain data. One that is for something else is refused.

    Attributes:
        progress: What the owner wants to know when it goes on: plain data, written with each `commit`.

    Raises:
        ForeignStoreError: The folder holds something else.
        DamagedStoreError: Its manifest is not what was written.
        InductionError: Another process has it.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.progress: dict[str, Any] = {}
        self._identity = json.loads(json.dumps(identity))
        self._records: dict[str, ArrayRecord] = {}
        self._verified: set[str] = set()
        self._lock_descriptor = -1
        path.mkdir(parents=True, exist_ok=True)
        manifest = path / MANIFEST
        if not manifest.exists() and any(not _is_ours(name) for name in os.listdir(path)):
            raise ForeignStoreError(f"{path} holds other files and no manifest of a plan; name an empty folder")
        self._lock()
        try:
            if manifest.exists():
                self._read(manifest)
                self._remove_left_overs()
            else:
                self.commit([])
        except BaseException:
            self.close()
            raise

    def __contains__(self, name: str) -> bool:
        return name in self._records

    def record(self, name: str) -> ArrayRecord:
        """What the manifest says of an array."""
        return self._records[name]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(record.nbytes for record in self._records.values())

    def writer(self, name: str, dtype: DTypeLike, row_shape: tuple[int, ...] = ()) -> ArrayWriter:
        """Begin an array; `commit` completes it."""
        return ArrayWriter(self.path, name, dtype, row_shape)

    def commit(self, writers: Iterable[ArrayWriter]) -> None:
        """Complete arrays and write the manifest that names them; only before `close`."""
        assert fcntl is None or self._lock_descriptor >= 0
        for writer in writers:
            self._records[writer.name] = writer.complete()
            self._verified.add(writer.name)
        content = {
            "format": FORMAT,
            "version": VERSION,
            "identity": self._identity,
            "progress": self.progress,
            "arrays": {name: list(record) for name, record in self._records.items()},
        }
        with noticing_a_full_disk(self.path):
            write_whole(self.path / MANIFEST, _sealed(content))

    def array(self, name: str) -> MappedArray:
        """An array, compared with its checksum when this process first meets it.

        Raises:
            DamagedStoreError: It is not what was written.
        """
        record = self._records[name]
        found = MappedArray(self.path / record.file, record, verify=name not in self._verified)
        self._verified.add(name)
        return found

    def __enter__(self) -> ArrayFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others write to the folder; its arrays can still be read."""
        if self._lock_descriptor >= 0:
            os.close(self._lock_descriptor)
            self._lock_descriptor = -1

    def __del__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            self.close()

    def _lock(self) -> None:
        if fcntl is None:
            return
        self._lock_descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InductionError(f"another computation writes to {self.path}; wait for it, or name another") from None

    def _read(self, manifest: Path) -> None:
        content = _unsealed(manifest)
        if content["identity"] != self._identity:
            raise ForeignStoreError(f"{self.path} is for another plan: {self._difference(content['identity'])}")
        self.progress = content["progress"]
        for name, (file, dtype, shape, digest) in content["arrays"].items():
            self._records[name] = ArrayRecord(file, dtype, tuple(shape), digest)

    def _difference(self, found: Any) -> str:
        wanted = self._identity
        if not isinstance(found, dict) or not isinstance(wanted, dict):
            return f"{found}, asked for is {wanted}"
        names = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        told = ", ".join(f"{name} is {found.get(name)!r}, asked for is {wanted.get(name)!r}" for name in names)
        return f"{told}; name another folder, or remove it"

    def _remove_left_overs(self) -> None:
        """Remove what a killed process had not finished."""
        kept = {record.file for record in self._records.values()}
        for name in os.listdir(self.path):
            if name.startswith(TEMPORARY) or (name.endswith(".npy") and name not in kept):
                (self.path / name).unlink(missing_ok=True)


def _is_ours(name: str) -> bool:
    return name == _LOCK or name.startswith(TEMPORARY)


def _sealed(content: dict[str, Any]) -> bytes:
    text = json.dumps(content, indent=1, sort_keys=True)
    return json.dumps(
        {"checksum": checksum(text.encode()).hex(), "content": content}, indent=1, sort_keys=True
    ).encode()


def _unsealed(manifest: Path) -> dict[str, Any]:
    try:
        outer = json.loads(manifest.read_bytes())
        content = outer["content"]
        is_ours = content["format"] == FORMAT
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ForeignStoreError(f"{manifest} is no manifest of a plan; name another folder") from error
    if not is_ours or content.get("version") != VERSION:
        raise ForeignStoreError(f"{manifest} is of another format or version; name another folder")
    if outer.get("checksum") != checksum(json.dumps(content, indent=1, sort_keys=True).encode()).hex():
        raise DamagedStoreError(f"{manifest}: its checksum does not fit; remove the folder and compute it again")
    return dict(content)
