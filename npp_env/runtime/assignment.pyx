"""What an environment gets with a level, as the engine takes it."""

from npp_env.sim.structs import address_of


cdef class Assignment:
    """What an environment gets with a level; shared by all that play it alike.

    Args:
        level: The compiled level.
        paths: A `PathHandle` for the initial door configuration, or None if nothing needs it.
        background: The uint8 background block of its frames, or None if nothing needs it.
        limit_frames: Ticks after which an episode is truncated, 0 for never.
        gold: Pieces of gold in the level.
        index: Number of the level in its set.
    """

    def __init__(
        self, LevelHandle level not None, PathHandle paths, background, int limit_frames, int gold, int index
    ) -> None:
        self.level = level
        self.paths = paths
        self.background = background
        self.background_base = <unsigned char*><size_t>(0 if background is None else address_of(background))
        self.limit_frames = limit_frames
        self.gold = gold
        self.index = index
