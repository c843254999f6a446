"""Rollouts and replays in little memory: states and packed observations in, observations out."""
