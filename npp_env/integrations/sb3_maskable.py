"""Rollout buffers for MaskablePPO of sb3-contrib, as those of `sb3_buffers` and `sb3_states` for PPO.

MaskablePPO("MultiInputPolicy", env, rollout_buffer_class=PackedMaskableDictRolloutBuffer)
MaskablePPO("MlpPolicy", env, rollout_buffer_class=StateMaskableRolloutBuffer, policy_kwargs=...)
"""

from __future__ import annotations

from npp_env.errors import requires

with requires("sb3-contrib", __name__, "pip install 'npp_env[sb3]'"):
    from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableRolloutBuffer

from npp_env.integrations.sb3_buffers import PackedStorage
from npp_env.integrations.sb3_states import StoredStates


class PackedMaskableDictRolloutBuffer(PackedStorage, MaskableDictRolloutBuffer):
    """sb3-contrib's `MaskableDictRolloutBuffer` with packed graph keys."""


class StateMaskableRolloutBuffer(StoredStates, MaskableRolloutBuffer):
    """sb3-contrib's `MaskableRolloutBuffer` of states, each as long as it is, never copied as a whole."""
