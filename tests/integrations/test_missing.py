"""Without its library a module says what to install."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from npp_env import NppVectorEnv
from npp_env.errors import NppError
from npp_env.integrations.packed import unpack


@pytest.mark.parametrize(
    ("module", "library", "pip_line"),
    [
        ("npp_env.integrations.ray_cluster", "ray", r"pip install 'npp_env\[ray\]'"),
        ("npp_env.integrations.ray_levels", "ray", r"pip install 'npp_env\[ray\]'"),
        ("npp_env.integrations.ray_work", "ray", r"pip install 'npp_env\[ray\]'"),
        ("npp_env.integrations.sb3", "stable_baselines3", r"pip install 'npp_env\[sb3\]'"),
        ("npp_env.integrations.sb3_buffers", "stable_baselines3", r"pip install 'npp_env\[sb3\]'"),
        ("npp_env.integrations.sb3_features", "stable_baselines3", r"pip install 'npp_env\[sb3\]'"),
        ("npp_env.integrations.sb3_maskable", "sb3_contrib", r"pip install 'npp_env\[sb3\]'"),
        ("npp_env.integrations.sb3_states", "stable_baselines3", r"pip install 'npp_env\[sb3\]'"),
        ("npp_env.integrations.torch", "torch", "pip install torch"),
    ],
)
def test_modules_name_the_pip_line(module, library, pip_line, monkeypatch):
    for name in [name for name in sys.modules if name == library or name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(NppError, match=f"{module} needs .*: {pip_line}") as caught:
        importlib.import_module(module)
    assert isinstance(caught.value, DependencyNotInstalled)
    assert isinstance(caught.value.__cause__, ImportError)


def test_unpacking_tensors_names_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    env = NppVectorEnv(1, {"observation": {"layout": "packed"}})
    rows, _ = env.reset(seed=0)
    assert unpack(rows, env)
    with pytest.raises(NppError, match="pip install torch"):
        unpack(np.asarray(rows).tolist(), env)
