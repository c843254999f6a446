"""The policies that commands take: models of the package's trainer, of SB3, functions, baselines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.errors import NppError

if TYPE_CHECKING:
    from npp_env.config import EnvironmentConfig
    from npp_env.evaluation.policy import Policy

POLICY_HELP = (
    "a model of `npp-env train` (.nppmodel), a zip of Stable-Baselines3, module:function, baseline:random, "
    "baseline:path or a trained one such as baseline:first_steps"
)
SB3_SUFFIX = ".zip"
_MOST_CONFIG_BYTES = 1 << 20


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments that say which policy plays, and how."""
    parser.add_argument("policy", metavar="POLICY", help=POLICY_HELP)
    parser.add_argument("--config", type=Path, metavar="FILE.json", help="configuration of a model that holds none")
    parser.add_argument("--sample", action="store_true", help="draw actions instead of taking the likeliest")


def load_policy_argument(text: str, config: Path | None = None, sample: bool = False) -> Policy:
    """The policy that an argument names.

    Args:
        text: The argument.
        config: File of a configuration, for a model that holds none.
        sample: Whether a model draws its actions.

    Raises:
        PolicyError: It names none.
    """
    from npp_env.evaluation.baselines import BASELINE, baseline_policy
    from npp_env.evaluation.policy import PolicyError, import_policy
    from npp_env.learning.model_file import MODEL_SUFFIX, load_policy, shipped_models

    given = None if config is None else read_config(config)
    if text.startswith(BASELINE):
        name = text.removeprefix(BASELINE)
        models = shipped_models()
        if name not in models:
            return baseline_policy(name, tuple(models))
        text = str(models[name])
    path = Path(text)
    if path.suffix.lower() in (MODEL_SUFFIX, SB3_SUFFIX) and not path.is_file():
        raise PolicyError(f"{text}: there is no such file")
    if path.suffix.lower() == MODEL_SUFFIX:
        model = load_policy(path)
        model.deterministic = not sample
        return model
    if path.suffix.lower() == SB3_SUFFIX:
        from npp_env.integrations.sb3_policy import load_sb3_policy

        return load_sb3_policy(path, given, deterministic=not sample)
    if path.exists():
        raise PolicyError(f"{text}: this is no model that npp_env knows; {POLICY_HELP}")
    return import_policy(text)


def read_config(path: Path) -> EnvironmentConfig:
    """A configuration from a JSON file.

    Raises:
        NppError: It cannot be read, or is no configuration.
    """
    from npp_env.config import EnvironmentConfig
    from npp_env.level.files import read_json

    return EnvironmentConfig.from_dict(read_json(path, _MOST_CONFIG_BYTES, NppError))
