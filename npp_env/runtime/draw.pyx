"""Random bits and levels of episodes: the same key and episode give the same, whatever else happened."""


def episode_hash(unsigned long long key, long long episode) -> int:
    """64 random bits for an episode: splitmix64 of the environment's key and the episode's number."""
    return bits_of_episode(key, episode)


def drawn_level(unsigned long long key, long long episode, long long count) -> int:
    """The number of a level for an episode, all of `count` equally likely."""
    return level_drawn(key, episode, count)
