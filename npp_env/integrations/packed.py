"""The byte-packed layout, for trainers that take one uint8 Box and nothing else (PufferLib), and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from npp_env.config import EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError, requires
from npp_env.observe.buffers import ObservationLayout


def unpack(observation: Any, source: Any) -> dict[str, Any]:
    """The observations by key that lie in rows of the `packed` layout.

    Args:
        observation: uint8 (..., bytes) from an environment with `layout="packed"`: a NumPy array, or a PyTorch tensor
            on any device, so that a policy can unpack what its trainer hands it.
        source: What says which keys there are: an environment (wrapped or not, single or vector), an
            `EnvironmentConfig`, or a dictionary of its fields.

    Returns:
        Arrays or tensors (..., *shape of the key) in the types of the `dict` layout: float16, uint8 and uint16. They
        are views of `observation`, except for tensors whose rows are not aligned to two bytes, which are copied.

    Raises:
        ConfigError: The source does not describe an environment, or the rows are not its packed observations.

    Example:
        >>> from npp_env import NppVectorEnv
        >>> env = NppVectorEnv(3, {"observation": {"layout": "packed"}})
        >>> rows, _ = env.reset(seed=0)
        >>> rows.shape, unpack(rows, env)["game_state"].shape
        ((3, 94), (3, 34))
    """
    layout = layout_of(source)
    if isinstance(observation, np.ndarray):
        return layout.unpack(observation)
    return _unpack_tensor(observation, layout)


def layout_of(source: Any) -> ObservationLayout:
    """Where each key lies in a packed row of an environment or a configuration."""
    config = _configuration_of(source)
    return ObservationLayout(config.observation.keys, "packed", config.capacity)


def _configuration_of(source: Any) -> EnvironmentConfig:
    if isinstance(source, (EnvironmentConfig, Mapping)):
        return resolve_config(source)
    config = getattr(getattr(source, "unwrapped", source), "config", None)
    if not isinstance(config, EnvironmentConfig):
        raise ConfigError(
            f"unpack() got {type(source).__name__}; give an npp_env environment, its configuration, or a dictionary"
        )
    return config


def _unpack_tensor(rows: Any, layout: ObservationLayout) -> dict[str, Any]:
    with requires("PyTorch", "unpack() of anything but a NumPy array", "pip install torch"):
        import torch

    if not isinstance(rows, torch.Tensor) or rows.dtype != torch.uint8 or rows.shape[-1] != layout.nbytes:
        found = f"{rows.dtype} {tuple(rows.shape)}" if hasattr(rows, "dtype") else type(rows).__name__
        raise ConfigError(f"packed observations are uint8 (..., {layout.nbytes}), got {found}")
    types = {"float16": torch.float16, "uint16": torch.uint16, "uint8": torch.uint8}
    offsets = layout.packed_offsets()
    unpacked = {}
    for spec in layout.specs:
        part = rows[..., offsets[spec.key] : offsets[spec.key] + spec.nbytes]
        aligned = spec.dtype.itemsize == 1 or (
            part.storage_offset() % 2 == 0 and all(stride % 2 == 0 for stride in part.stride()[:-1])
        )
        # A tensor cannot look at bytes as numbers of two bytes from an odd place.
        part = part if aligned and part.stride(-1) == 1 else part.clone(memory_format=torch.contiguous_format)
        unpacked[spec.key] = part.view(types[spec.dtype.name]).reshape(*rows.shape[:-1], *spec.shape)
    return unpacked
