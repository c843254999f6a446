"""Evaluation: how well a policy plays, what it did, and pictures of it."""
