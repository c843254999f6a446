"""Demonstrations as Minari datasets: states as observations, stored without loss, every file with its digest."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.config import EnvironmentConfig
from npp_env.env import NppEnv
from npp_env.errors import ConfigError, NppError, requires
from npp_env.learning.demonstrations import Demonstration, DemonstrationError, replay_complaint
from npp_env.level.level_set import LevelSet
from npp_env.level.validation import shorten
from npp_env.sim.outcome import Outcome

MANIFEST = "npp_env.json"
FORMAT, VERSION = "npp_env demonstrations", 1
DATA_FORMAT = "parquet"
_MOST_MANIFEST_BYTES = 1 << 28
_PIP = "pip install 'npp_env[demos]'"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        episodes: Number of episodes.
        steps: Actions in all of them.
        nbytes: Size of all files.
    """

    episodes: int
    steps: int
    nbytes: int


def write_demonstrations(
    folder: str | os.PathLike[str],
    config: EnvironmentConfig,
    episodes: Iterable[Demonstration],
    overwrite: bool = False,
) -> Written:
    """Write episodes as a Minari dataset, which `minari.MinariDataset(folder)` and `DemonstrationFiles` open.

    Args:
        folder: Where to; it comes into being whole, or not at all.
        config: The environment that the episodes are of, in the `state` layout.
        episodes: They are written as they come, none is kept.
        overwrite: Whether a dataset that is there may be replaced.

    Raises:
        DemonstrationError: There are no episodes, or something is in the way.
    """
    # Minari counts the bytes of relative folders in the wrong place.
    target = Path(folder).absolute()
    if target.exists() and not overwrite:
        raise DemonstrationError(f"{target} exists already; name another folder, or overwrite it")
    if target.exists() and not (target / MANIFEST).is_file():
        raise DemonstrationError(f"{target} is no dataset of demonstrations; it is not overwritten")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
        data = Path(name) / "data"
        data.mkdir()
        listed = _write_data(data, config, episodes)
        if not listed:
            raise DemonstrationError("there are no episodes to write")
        _write_manifest(data, config, listed)
        if target.exists():
            shutil.rmtree(target)
        os.replace(data, target)
    nbytes = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    return Written(len(listed), sum(entry["steps"] for entry in listed), nbytes)


def _write_data(data: Path, config: EnvironmentConfig, episodes: Iterable[Demonstration]) -> list[dict[str, Any]]:
    with requires("Minari", __name__, _PIP):
        import gymnasium as gym
        from minari import __version__ as minari_version
        from minari.data_collector import EpisodeBuffer
        from minari.dataset.minari_storage import MinariStorage
    levels = LevelSet.parse(config.levels)
    env = gym.make("npp_env:Npp-v0", **_environment_arguments(config))
    spaces = env.observation_space, env.action_space
    spec = env.spec
    env.close()
    # Rows are vectors: whether a version of Minari makes JPEGs of images, and can be told not to, does not matter.
    storage = MinariStorage.new(data, *spaces, env_spec=spec, data_format=DATA_FORMAT)
    # It counts the bytes of all files after every episode; once is enough.
    storage.get_size, count_bytes = (lambda: 0.0), storage.get_size
    listed: list[dict[str, Any]] = []
    for d in episodes:
        ends = np.zeros(len(d.actions), np.bool_)
        ends[-1:] = True
        buffer = EpisodeBuffer(
            observations=d.rows,
            actions=d.actions,
            rewards=d.rewards,
            terminations=ends,
            truncations=np.zeros(len(d.actions), np.bool_),
        )
        storage.update_episodes([buffer])
        listed.append(
            {
                "level": levels.name_of(d.level_index),
                "level_index": d.level_index,
                "kind": d.kind,
                "outcome": d.outcome.name.lower(),
                "steps": len(d.actions),
            }
        )
    storage.update_metadata(
        {
            "dataset_id": f"npp_env/{data.parent.name.split('.')[1] or 'demos'}-v0",
            "algorithm_name": "npp_env.learning.teacher.Teacher",
            "minari_version": minari_version,
            "requirements": ["npp_env"],
            "dataset_size": float(count_bytes()),
        }
    )
    return listed


def _environment_arguments(config: EnvironmentConfig) -> dict[str, Any]:
    levels = list(config.levels) if isinstance(config.levels, (list, tuple)) else config.levels
    return {"levels": levels, "frame_skip": config.frame_skip, "observation": {"layout": "state"}}


def _write_manifest(data: Path, config: EnvironmentConfig, listed: list[dict[str, Any]]) -> None:
    files = sorted(path for path in data.rglob("*") if path.is_file())
    content = {
        "format": FORMAT,
        "version": VERSION,
        "environment": _environment_arguments(config),
        "episodes": listed,
        "files": {path.relative_to(data).as_posix(): _digest(path.read_bytes()) for path in files},
    }
    (data / MANIFEST).write_text(json.dumps({**content, "digest": _digest_of(content)}, indent=1))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(content: dict[str, Any]) -> str:
    return _digest(json.dumps(content, sort_keys=True).encode())


class DemonstrationFiles:
    """A dataset of demonstrations, opened: all files are there and undamaged.

    Args:
        folder: What `write_demonstrations` wrote.

    Attributes:
        config: The environment that the episodes are of.
        episodes: What the manifest says of each: level, level_index, kind, outcome, steps.

    Raises:
        DemonstrationError: It is no such dataset, or damaged.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        manifest = _read_manifest(self.folder)
        _check_files(self.folder, manifest["files"])
        self.episodes: list[dict[str, Any]] = manifest["episodes"]
        try:
            self.config = EnvironmentConfig().with_overrides(manifest["environment"])
        except ConfigError as error:
            raise DemonstrationError(f"{self.folder}: {error}") from error

    @property
    def steps(self) -> int:
        """Actions of all episodes."""
        return sum(entry["steps"] for entry in self.episodes)

    @property
    def nbytes(self) -> int:
        """Size of all files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Demonstration]:
        """The episodes, one after the other, in fresh arrays.

        Raises:
            DemonstrationError: The files do not hold what the manifest says.
        """
        with requires("Minari", __name__, _PIP):
            from minari.dataset.minari_storage import MinariStorage
        for number, entry in enumerate(self.episodes):
            try:
                storage = MinariStorage.read(self.folder)
                (found,) = storage.get_episodes([number])
                rows = np.ascontiguousarray(found["observations"], np.uint8)
                actions = np.ascontiguousarray(found["actions"], np.int64)
                rewards = np.ascontiguousarray(found["rewards"], np.float64)
            # Readers of columns raise almost anything for files that are not what they seem.
            except Exception as error:
                what = f"{type(error).__name__}: {shorten(str(error))}"
                raise DemonstrationError(f"{self.folder}: episode {number} cannot be read: {what}") from error
            if rows.ndim != 2 or not len(actions) == len(rewards) == len(rows) - 1 == entry["steps"]:
                raise DemonstrationError(
                    f"{self.folder}: episode {number} has {rows.shape} observations, {len(actions)} actions and "
                    f"{len(rewards)} rewards; the manifest says {entry['steps']} steps"
                )
            yield Demonstration(rows, actions, rewards, Outcome[entry["outcome"].upper()], entry["kind"])

    def complaints(self) -> Iterator[tuple[int, str | None]]:
        """Replay every episode: its number, and None or what does not come out as it is written.

        Raises:
            DemonstrationError: The files do not hold what the manifest says, or there are no such levels.
        """
        try:
            env = NppEnv(self.config)
        except NppError as error:
            raise DemonstrationError(f"{self.folder}: {error}") from error
        try:
            for number, (entry, d) in enumerate(zip(self.episodes, self, strict=True)):
                if d.level_index != entry["level_index"]:
                    yield number, f"it is of level {d.level_index}, not {entry['level_index']}"
                else:
                    yield number, replay_complaint(env, d)
        finally:
            env.close()


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if path.exists() and not path.is_file():
        # Whoever opens a pipe waits for one who writes.
        raise DemonstrationError(f"{folder} is no dataset of demonstrations: {MANIFEST} is no file")
    try:
        if path.stat().st_size > _MOST_MANIFEST_BYTES:
            raise DemonstrationError(f"{path} is too large to be a manifest")
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise DemonstrationError(
            f"{folder} is no dataset of demonstrations: {MANIFEST} cannot be read ({error.strerror})"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DemonstrationError(f"{path} is damaged: {shorten(str(error))}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DemonstrationError(f"{path} is not the manifest of demonstrations")
    if content.get("version") != VERSION:
        raise DemonstrationError(f"{path} has version {shorten(content.get('version'))}; this npp_env reads {VERSION}")
    digest = content.pop("digest", None)
    if digest != _digest_of(content):
        raise DemonstrationError(f"{path} is damaged: its digest does not fit")
    _check_manifest(path, content)
    return content


def _check_manifest(path: Path, content: dict[str, Any]) -> None:
    """Refuse what only a forger writes."""
    wanted = {"level": str, "level_index": int, "kind": str, "outcome": str, "steps": int}
    episodes, files, environment = (content.get(name) for name in ("episodes", "files", "environment"))
    if not isinstance(files, dict) or not isinstance(episodes, list) or not isinstance(environment, dict):
        raise DemonstrationError(f"{path} lacks a list of episodes, of files, or the environment")
    for number, entry in enumerate(episodes):
        fits = isinstance(entry, dict) and all(type(entry.get(name)) is kind for name, kind in wanted.items())
        if not fits or entry["outcome"].upper() not in Outcome.__members__ or entry["steps"] < 1:
            raise DemonstrationError(f"{path}: episode {number} is {shorten(entry)}")


def _check_files(folder: Path, digests: dict[str, Any]) -> None:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    for name in sorted(found ^ set(digests)):
        state = "is missing" if name in digests else "is none of its files"
        raise DemonstrationError(f"{folder} is damaged: {shorten(name)} {state}")
    for name, digest in digests.items():
        if _digest((folder / name).read_bytes()) != digest:
            raise DemonstrationError(f"{folder} is damaged: the digest of {shorten(name)} does not fit")
