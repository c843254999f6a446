"""A world model: a recurrent model of the game that is learned from replayed states, and an actor that learns in it."""
