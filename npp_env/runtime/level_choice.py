"""What the single and the vector environment tell alike of the levels that they play."""

from __future__ import annotations

from npp_env.runtime.episodes import Episodes
from npp_env.runtime.sampling import LevelSampling


class LevelChoice:
    """What `NppEnv` and `NppVectorEnv` have in common; both are made of `Episodes`."""

    _episodes: Episodes

    @property
    def num_levels(self) -> int:
        """Number of levels in the level set; an endless set offers as many as an int32 can number."""
        return self._episodes.num_levels

    @property
    def level_names(self) -> list[str]:
        """Names of the levels in the set, by number; a fresh list.

        Raises:
            LevelError: The set has no end.
        """
        return self._episodes.levels.names()

    @property
    def sampling(self) -> LevelSampling:
        """What chooses the levels; statistics of a curriculum are kept there."""
        return self._episodes.sampling
