"""Entrances for files that only this package writes, or that hold nothing but numbers."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from npp_env.cli.replay import read_inputs
from npp_env.errors import NppError
from npp_env.learning.model_file import FORMAT, read_arrays, write_arrays
from npp_env.level.cache_file import ArtifactKey, DamagedArtifactError
from npp_env.level.cache_store import ArtifactStore
from npp_env.level.shipped import load_shipped
from npp_env.recording import Recording, write_recording
from npp_env.render.background import build_frame_background
from npp_env.sim.geometry import compile_level
from tests.fuzz.entrance import Entrance, Run, require

LEVEL = load_shipped("first_steps/walk")
KEYS = [ArtifactKey(LEVEL.hash, name, "", 1) for name in ("near", "frame_background")]


def arrays() -> dict[ArtifactKey, np.ndarray]:
    return dict(zip(KEYS, (compile_level(LEVEL)["near"], build_frame_background(LEVEL)[:20]), strict=True))


def cache_seeds() -> list[bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        store = ArtifactStore(name)
        store.write_all(arrays())
        return [store.path_of(LEVEL.hash).read_bytes()]


def open_cache_files(folder: Path) -> Run:
    """A file of the level cache: the right array, or none."""
    store, right = ArtifactStore(folder), arrays()
    path = store.path_of(LEVEL.hash)
    path.parent.mkdir(parents=True, exist_ok=True)

    def run(data: bytes) -> None:
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        path.chmod(0o444)
        refused = None
        for key in KEYS:
            try:
                found = store.read(key)
            except DamagedArtifactError as error:
                refused = error
                continue
            require(found is None or np.array_equal(found, right[key]), f"a wrong array for {key.name}")
        if refused is not None:
            raise NppError(str(refused))

    return run


def input_seeds() -> list[bytes]:
    inputs = np.arange(200, dtype=np.uint8) % 8
    seeds = [inputs.tobytes(), write_recording(Recording.of_level(LEVEL, inputs))]
    for array in (inputs, inputs.astype(np.int64), inputs.reshape(2, 100), inputs > 3):
        content = io.BytesIO()
        np.save(content, array)
        seeds.append(content.getvalue())
    return seeds


def open_inputs(folder: Path) -> Run:
    """Inputs for `npp-env replay`: raw, as .npy, or in a recording."""
    path = folder / "inputs"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        Recording.of_level(LEVEL, read_inputs(path))

    return run


def model_seeds() -> list[bytes]:
    """The bytes of a model; and after a zero the header and an array, each behind its length, which are zipped here."""
    import tempfile

    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    header = {"policy": "mlp", "options": {"width": 8}}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.nppmodel"
        write_arrays(path, header, {"network/weight": array, "mean": array.astype(np.float64)[0]})
        whole = path.read_bytes()
    content = io.BytesIO()
    np.save(content, array)
    text = json.dumps({"format": FORMAT, "version": 1, **header}).encode()
    return [whole, b"\0" + len(text).to_bytes(2, "little") + text + content.getvalue()]


def open_models(folder: Path) -> Run:
    """A model file: its checksums keep most changes out, so that content is also zipped after it was changed."""
    path = folder / "x.nppmodel"

    def run(data: bytes) -> None:
        if data[:1] == b"\0":
            end = 3 + int.from_bytes(data[1:3], "little")
            with zipfile.ZipFile(path, "w") as file:
                file.writestr("header.json", data[3:end])
                file.writestr("a.npy", data[end:])
        else:
            path.write_bytes(data)
        header, arrays = read_arrays(path)
        write_arrays(path, header, arrays)
        again, same = read_arrays(path)
        require(again == header and same.keys() == arrays.keys(), "a model does not come back as it was")
        require(all(np.array_equal(same[key], arrays[key], equal_nan=True) for key in same), "an array has changed")

    return run


_NPY = [b"\x93NUMPY\x01\x00", b"'descr': '|O'", b"(9999999999999,)", b"'<f8'", b"True", b"'|u1'", b"((", b"\n"]
ENTRANCES = (
    Entrance("cache-file", cache_seeds, open_cache_files),
    Entrance("inputs", input_seeds, open_inputs, tokens=_NPY),
    Entrance("model", model_seeds, open_models, tokens=_NPY),
)
