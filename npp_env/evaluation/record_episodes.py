"""Wrappers that keep episodes as recordings: all of them, wins, the best of every level, or every n-th."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from npp_env.errors import ConfigError, NppError, RecordingError
from npp_env.level.model import Level
from npp_env.level.validation import shorten
from npp_env.recording import RECORDING_SUFFIX, Recording, load_recording, save_recording
from npp_env.vector import NppVectorEnv

KEEP = ("all", "wins", "best")
MOST_FILES = 10_000
"""Recordings that a folder gets at most, unless more are asked for."""

_logger = logging.getLogger(__name__)
_NUMBER = re.compile(r"-(\d{6,})-[a-z]+$")


def file_stem(level: Level) -> str:
    """What files of a level are called: its group and name in letters that every file system takes.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> file_stem(load_shipped("first_steps/walk"))
        'first_steps-walk'
    """
    words = f"{level.metadata.get('group', '')} {level.name or level.hash[:8]}"
    return re.sub(r"[^A-Za-z0-9_.]+", "-", words).strip("-.").lower()[:80] or level.hash[:8]


def rank_of(recording: Recording, episode_return: float = float("-inf")) -> tuple[bool, float]:
    """What makes one episode better than another: a win, the sooner the better; without one its return."""
    won = recording.outcome == "won"
    return won, -float(recording.frames or 0) if won else episode_return


class EpisodeKeeper:
    """Decides which episodes are kept, and writes them.

    Args:
        folder: Where recordings are written; made if it does not exist. Files that are there stay: numbers go on after
            the largest, and a best episode is replaced only by a better one.
        keep: `all`, `wins`, `best` (one file for every level), or a number n for every n-th episode.
        most_files: Files that are written at most; after that nothing is kept any more, and a warning is logged.

    Attributes:
        written: The files that this keeper wrote, in order.

    Raises:
        ConfigError: A wrong `keep` or `most_files`.
        RecordingError: The folder cannot be made.
    """

    def __init__(self, folder: str | Path, keep: str | int = "all", most_files: int = MOST_FILES) -> None:
        if not (keep in KEEP if isinstance(keep, str) else type(keep) is int and keep >= 1):
            raise ConfigError(f"keep is {shorten(keep)}; it must be one of {', '.join(KEEP)}, or n for every n-th")
        if type(most_files) is not int or most_files < 1:
            raise ConfigError(f"most_files is {shorten(most_files)}; it must be a whole number of at least 1")
        self.folder = Path(folder)
        self.keep = keep
        self.written: list[Path] = []
        self._most_files = most_files
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordingError(f"{self.folder}: cannot be made a folder for recordings: {error}") from error
        found = (_NUMBER.search(path.stem) for path in self.folder.glob(f"*{RECORDING_SUFFIX}"))
        self._first = 1 + max((int(match[1]) for match in found if match), default=-1)
        self._seen = 0
        self._best: dict[str, tuple[bool, float]] = {}

    def wants(self, won: bool) -> bool:
        """Whether the next episode may be kept; counts it."""
        self._seen += 1
        if isinstance(self.keep, int):
            return (self._seen - 1) % self.keep == 0
        return won or self.keep != "wins"

    def offer(self, recording: Recording, episode_return: float) -> Path | None:
        """Keep an episode, if it is one of those that are to be kept; its file then."""
        level = recording.level
        assert level is not None, "recordings of environments hold their level"
        if self.keep == "best":
            return self._offer_best(recording, level, episode_return)
        if len(self.written) >= self._most_files:
            if len(self.written) == self._most_files and self._most_files:
                _logger.warning("%s holds %d new recordings: no more are kept", self.folder, self._most_files)
                self._most_files = 0
            return None
        number = self._first + self._seen - 1
        return self._write(recording, f"{file_stem(level)}-{number:06d}-{recording.outcome}", overwrite=False)

    def _offer_best(self, recording: Recording, level: Level, episode_return: float) -> Path | None:
        stem = f"{file_stem(level)}-{level.hash[:8]}-best"
        present = self.folder / f"{stem}{RECORDING_SUFFIX}"
        rank = rank_of(recording, episode_return)
        if stem not in self._best and present.exists():
            self._best[stem] = rank_of(load_recording(present))
        if stem in self._best and rank <= self._best[stem]:
            return None
        self._best[stem] = rank
        return self._write(recording, stem, overwrite=True)

    def _write(self, recording: Recording, stem: str, *, overwrite: bool) -> Path:
        path = self.folder / f"{stem}{RECORDING_SUFFIX}"
        save_recording(recording, path, overwrite=overwrite)
        if path not in self.written:
            self.written.append(path)
        return path


class RecordEpisodes(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Keeps episodes of one environment as `.npprec` files; `info["recording"]` of the last step names the file.

    Args:
        env: An environment of this package, wrapped or not.
        folder: See `EpisodeKeeper`.
        keep: `all`, `wins`, `best`, or n for every n-th episode.
        most_files: See `EpisodeKeeper`.

    Example:
        >>> import tempfile
        >>> env = gym.make("npp_env:Npp-v0", levels="shipped:first_steps/walk")
        >>> env = RecordEpisodes(env, tempfile.mkdtemp(), keep="wins")
        >>> observation, info = env.reset(seed=0)
        >>> ended = False
        >>> while not ended:
        ...     observation, reward, ended, truncated, info = env.step(2 if info["phase"] else 1)
        >>> info["recording"].rpartition("/")[2]
        'first_steps-walk-000000-won.npprec'
    """

    def __init__(
        self, env: gym.Env[Any, Any], folder: str | Path, keep: str | int = "all", most_files: int = MOST_FILES
    ) -> None:
        if isinstance(env, gym.vector.VectorEnv):
            raise NppError("this is a vector environment; wrap it with RecordVectorEpisodes")
        gym.utils.RecordConstructorArgs.__init__(self, folder=str(folder), keep=keep, most_files=most_files)
        super().__init__(env)
        if not hasattr(env.unwrapped, "recording"):
            raise NppError(f"{shorten(env.unwrapped)} is no environment of npp_env; it has no recording()")
        self.keeper = EpisodeKeeper(folder, keep, most_files)
        self._kept = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._kept = False
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step; at the end of an episode its recording is kept, if it is one of those that are."""
        observation, reward, terminated, truncated, info = super().step(action)
        if (terminated or truncated) and not self._kept:
            self._kept = True
            unwrapped: Any = self.env.unwrapped
            recording = unwrapped.recording()
            if self.keeper.wants(recording.outcome == "won"):
                path = self.keeper.offer(recording, float(info["episode_return"]))
                if path is not None:
                    info["recording"] = str(path)
        return observation, reward, terminated, truncated, info


class RecordVectorEpisodes(gym.vector.VectorWrapper):
    """Keeps episodes of a native vector environment as `.npprec` files, in any autoreset mode.

    Args:
        env: An `NppVectorEnv`, wrapped or not.
        folder: See `EpisodeKeeper`.
        keep: `all`, `wins`, `best`, or n for every n-th episode.
        most_files: See `EpisodeKeeper`.

    Attributes:
        keeper: What keeps them; `keeper.written` lists the files.
    """

    def __init__(
        self, env: gym.vector.VectorEnv[Any, Any, Any], folder: str | Path, keep: str | int = "all",
        most_files: int = MOST_FILES,
    ) -> None:  # fmt: skip
        super().__init__(env)
        native = env.unwrapped
        if not isinstance(native, NppVectorEnv):
            raise NppError(f"{shorten(native)} is no NppVectorEnv; wrap single environments with RecordEpisodes")
        self._native = native
        native.start_recording()
        self.keeper = EpisodeKeeper(folder, keep, most_files)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step; the recordings of episodes that end in it are kept, if they are of those that are."""
        observations, rewards, terminated, truncated, info = super().step(actions)
        ended = np.flatnonzero(terminated | truncated)
        returns = info.get("final_info", info).get("episode_return") if len(ended) else ()
        for i in ended.tolist():
            try:
                recording = self._native.final_recording(i)
            except RecordingError:
                continue  # it was restored, or began before there was this wrapper
            if self.keeper.wants(recording.outcome == "won"):
                self.keeper.offer(recording, float(returns[i]))
        return observations, rewards, terminated, truncated, info
