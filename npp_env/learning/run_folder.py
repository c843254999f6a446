"""`RunFolder`: all that a training run leaves behind, so that it can be looked at, and gone on with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from npp_env.errors import ConfigError, NppError
from npp_env.learning.model_file import MAX_CHECKPOINT_BYTES, MODEL_SUFFIX, read_arrays, write_arrays
from npp_env.learning.settings import TrainSettings
from npp_env.level.whole_file import write_whole

CONFIG, CHECKPOINT, CURVE, MODEL = "config.json", "checkpoint.npz", "curve.csv", f"model{MODEL_SUFFIX}"


class RunFolder:
    """A folder with `config.json`, `curve.csv`, `checkpoint.npz`, `model.nppmodel` and TensorBoard's event files.

    Files are written whole; a checkpoint stands for itself: a killed run goes on from its last one, and the rows of the
    curve behind it are written again.

    Args:
        path: The folder; it is made if needed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def model(self) -> Path:
        """The model file."""
        return self.path / MODEL

    def begin(self, settings: TrainSettings) -> None:
        """Start a run here.

        Raises:
            NppError: There is one already.
        """
        if (self.path / CONFIG).exists():
            raise NppError(f"{self.path} holds a run already; go on with it (--resume), or name another folder")
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(self.path / CONFIG, json.dumps(settings.to_dict(), indent=1).encode())

    def settings(self) -> TrainSettings:
        """Those of the run that is here.

        Raises:
            NppError: There is none, or it cannot be read.
        """
        try:
            return TrainSettings.from_dict(json.loads((self.path / CONFIG).read_bytes()))
        except FileNotFoundError:
            raise NppError(f"{self.path} holds no run: there is no {CONFIG} in it; `npp-env train` makes one") from None
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{self.path / CONFIG}: {error}") from error

    def save(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the checkpoint."""
        write_arrays(self.path / CHECKPOINT, header, arrays)

    def load(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """The checkpoint, or None before the first."""
        path = self.path / CHECKPOINT
        return read_arrays(path, MAX_CHECKPOINT_BYTES) if path.exists() else None

    def curve(self) -> list[dict[str, float]]:
        """The rows of the curve so far; a row that a kill cut off is left out."""
        path = self.path / CURVE
        if not path.exists():
            return []
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return [numbers for row in rows if (numbers := _numbers(row)) is not None]

    def cut_curve(self, steps: int) -> None:
        """Drop the rows behind a number of steps."""
        rows = [row for row in self.curve() if row["steps"] <= steps]
        text = io.StringIO(newline="")
        if rows:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        write_whole(self.path / CURVE, text.getvalue().encode())

    def append(self, row: Mapping[str, float]) -> None:
        """Add a row to the curve."""
        path = self.path / CURVE
        is_new = not path.exists() or path.stat().st_size == 0
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if is_new:
                writer.writeheader()
            writer.writerow(row)


def _numbers(row: dict[Any, Any]) -> dict[str, float] | None:
    """A row of a curve, or None if it was cut off."""
    try:
        return {name: float(value) for name, value in row.items()}
    except (TypeError, ValueError):
        return None
