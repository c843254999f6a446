"""Episodes of many environments: the engine, the reward, which level comes next, saved states, threads, memory."""
