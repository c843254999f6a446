"""Model files: named arrays and a JSON header in one zip file, as `.npz` has them, without pickles.

Checkpoints of training runs have the same form. Whatever stands in a file, reading it runs no code of it.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.level.files import read_bounded
from npp_env.level.npy import array_of_npy
from npp_env.level.validation import shorten
from npp_env.level.whole_file import write_whole

if TYPE_CHECKING:
    from npp_env.evaluation.policy import Policy

MODEL_SUFFIX = ".nppmodel"
FORMAT = "npp_env model"
_VERSION = 1
_HEADER = "header.json"
MAX_MODEL_BYTES, MAX_CHECKPOINT_BYTES = 1 << 28, 1 << 31
"""What the content may take in memory. A short file can hold a thousand times its length; models come from anywhere,
checkpoints, with all that a run remembers, from the run that goes on.
"""


class ModelError(NppError, ValueError):
    """A model file or checkpoint that cannot be read; the message says what is wrong with it."""


def write_arrays(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file whole: whoever opens it finds the old content or the new. Equal content gives equal bytes."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as file:
        text = json.dumps({"format": FORMAT, "version": _VERSION, **header}, indent=1)
        _write_member(file, _HEADER, text.encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            _write_member(file, f"{name}.npy", buffer.getvalue())
    write_whole(path, memory.getvalue())


def _write_member(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED if len(data) > 512 else zipfile.ZIP_STORED
    file.writestr(member, data, compresslevel=1)


def read_arrays(
    path: str | os.PathLike[str], most_bytes: int = MAX_MODEL_BYTES
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_arrays` wrote: the header, and fresh arrays by name.

    Args:
        path: The file.
        most_bytes: What it and its content may have at most.

    Raises:
        ModelError: It cannot be read, is no such file, damaged, of another version, or too large.
    """
    data = read_bounded(path, most_bytes, ModelError)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            held_bytes = sum(member.file_size for member in file.infolist())
            if held_bytes > most_bytes:
                raise ModelError(f"{os.fspath(path)}: holds {held_bytes} bytes; at most {most_bytes} are read")
            header = json.loads(file.read(_HEADER))
            arrays = {
                name.removesuffix(".npy"): array_of_npy(file.read(name)).copy()
                for name in file.namelist()
                if name != _HEADER
            }
    except ModelError:
        raise
    # The standard library raises almost anything for damaged files.
    except Exception as error:
        raise ModelError(
            f"{os.fspath(path)} is no model file: {type(error).__name__}: {shorten(str(error))}"
        ) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError(f"{os.fspath(path)} is no model file: its header does not say so")
    if header.get("version") != _VERSION:
        raise ModelError(
            f"{os.fspath(path)} has version {shorten(header.get('version'))}; this npp_env reads {_VERSION}"
        )
    return header, arrays


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, without it.

    Example:
        >>> part_of({"a/x": np.zeros(1), "b/x": np.ones(1)}, "b/")
        {'x': array([1.])}
    """
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def shipped_models() -> dict[str, Path]:
    """Trained models that come with the package, by name."""
    folder = Path(__file__).parent / "models"
    return {path.stem: path for path in sorted(folder.glob(f"*{MODEL_SUFFIX}"))}


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """The policy of a model file, as `npp-env train` writes it and `npp-env evaluate` takes it; needs torch.

    Raises:
        ModelError: The file is damaged, or holds something else.
    """
    from npp_env.learning.trained_policy import TrainedPolicy

    header, arrays = read_arrays(path)
    return TrainedPolicy.from_model(header, arrays, os.fspath(path))
