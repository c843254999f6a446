# Which level an episode of an environment is played on, where all are equally likely.

cdef inline unsigned long long bits_of_episode(unsigned long long key, long long episode) noexcept nogil:
    # splitmix64 of the environment's key and the episode's number.
    cdef unsigned long long z = key + (<unsigned long long>episode + 1) * 0x9E3779B97F4A7C15ULL
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
    return z ^ (z >> 31)

cdef inline long long level_drawn(unsigned long long key, long long episode, long long count) noexcept nogil:
    # Its number among `count` levels.
    return 0 if count == 1 else <long long>(bits_of_episode(key, episode) % <unsigned long long>count)
