"""Infos of a vector environment that concern some of its environments only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.observe.buffers import Observation
from npp_env.runtime.step_results import INFO_KEYS


def masked(info: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """An info of some environments only, with zeros for the others; fresh arrays."""
    values = {key: np.where(mask, info[key], 0).astype(info[key].dtype) for key in INFO_KEYS}
    return {**values, **{f"_{key}": mask.copy() for key in values}}


def final_infos(
    arrays: Observation, ended: NDArray[np.int64], mask: NDArray[np.bool_], info: dict[str, Any]
) -> dict[str, Any]:
    """What `info` says of episodes that ended in a step in which the next ones begin; fresh arrays.

    Args:
        arrays: The observations of all environments, those of the end among them.
        ended: The environments.
        mask: The same as bool (num_envs,).
        info: Of all environments, likewise before the next episodes begin.
    """
    final_obs = np.full(len(mask), None, dtype=object)
    for i in ended.tolist():
        if isinstance(arrays, dict):
            final_obs[i] = {key: array[i].copy() for key, array in arrays.items()}
        else:
            final_obs[i] = arrays[i].copy()
    return {
        "final_obs": final_obs,
        "_final_obs": mask.copy(),
        "final_info": masked(info, mask),
        "_final_info": mask.copy(),
    }
