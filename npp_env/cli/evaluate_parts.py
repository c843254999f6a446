"""`npp-env evaluate` in parts: here, on processes, or on a Ray cluster."""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from npp_env.cli.policies import SB3_SUFFIX, load_policy_argument
from npp_env.cli.printing import complain
from npp_env.cli.work import work_on, workers
from npp_env.errors import NppError
from npp_env.evaluation.evaluate import EvaluationOptions, KeptEpisodes
from npp_env.evaluation.parts import Part, decode_part, evaluate_part, join_parts, part_of
from npp_env.evaluation.policy import Policy
from npp_env.evaluation.scores import Evaluation
from npp_env.integrations.work import Job, key_of
from npp_env.learning.model_file import MODEL_SUFFIX
from npp_env.level.level_set import LevelSet

LEVELS_PER_PART = 16
_MODEL, _CONFIG = "model", "config.json"


@dataclass(frozen=True, slots=True)
class CarriedPolicy:
    """A policy with its files, for a machine that does not have them.

    Attributes:
        text: The argument that names it.
        sample: Whether a model draws its actions.
        files: Content of its files, by name.
    """

    text: str
    sample: bool
    files: dict[str, bytes]

    @classmethod
    def of(cls, args: argparse.Namespace) -> CarriedPolicy:
        """What arguments name; its files can be read."""
        path, files = Path(args.policy), {}
        if path.suffix.lower() in (MODEL_SUFFIX, SB3_SUFFIX):
            files[_MODEL + path.suffix] = path.read_bytes()
        if args.config is not None:
            files[_CONFIG] = args.config.read_bytes()
        return cls(args.policy, args.sample, files)

    def load(self) -> Policy:
        """The policy."""
        with tempfile.TemporaryDirectory(prefix="npp-policy-") as name:
            paths = [Path(name) / file for file in self.files]
            for path in paths:
                path.write_bytes(self.files[path.name])
            model = next((str(path) for path in paths if path.stem == _MODEL), self.text)
            config = next((path for path in paths if path.name == _CONFIG), None)
            return load_policy_argument(model, config, self.sample)

    def content(self) -> list[Any]:
        """What it depends on: its files, or that of the module that it comes from."""
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        return [self.text, self.sample, digests, _module_digest(self.text)]


def _module_digest(text: str) -> str | None:
    file = getattr(sys.modules.get(text.partition(":")[0]), "__file__", None)
    return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class EvaluationWork:
    """Plays parts of an evaluation."""

    policy: CarriedPolicy
    options: EvaluationOptions

    def __call__(self, part: Part) -> bytes:
        """What comes out; `decode_part` reads it."""
        return evaluate_part(self.policy.load(), part, self.options, self.policy.text)

    def content(self, part: Part) -> list[Any]:
        """What the result depends on."""
        levels = [[name, level.hash, dict(level.metadata)] for name, level in zip(part.names, part.levels, strict=True)]
        return [self.policy.content(), asdict(replace(self.options, threads=1)), part.seed, levels]


def evaluate_in_parts(
    args: argparse.Namespace, levels: LevelSet, options: EvaluationOptions
) -> tuple[Evaluation, list[KeptEpisodes]]:
    """Play all parts, and put them together.

    Raises:
        NppError: A part failed; those that did not are kept with `--results`.
    """
    work = EvaluationWork(CarriedPolicy.of(args), options)
    size = args.part or LEVELS_PER_PART
    firsts = range(0, len(levels), size)

    def jobs() -> Iterator[Job]:
        for first in firsts:
            part = part_of(levels, first, size, options.seed)
            yield Job(key_of("evaluate", *work.content(part)), part)

    evaluations, kept, failed = [], [], 0
    with workers(args, options.threads) as pool:
        for first, done in zip(firsts, work_on(work, jobs(), pool, args, "parts", len(firsts)), strict=True):
            if done.result is None:
                failed += 1
                complain(f"npp-env evaluate: levels from {levels.name_of(first)} on: {done.error}")
                continue
            evaluation, episodes = decode_part(done.result, levels[first : first + size])
            evaluations.append(evaluation)
            kept += episodes
    if failed:
        raise NppError(f"{failed} of {len(firsts)} parts failed; --results FOLDER keeps the others for the next try")
    return join_parts(evaluations, size), kept
