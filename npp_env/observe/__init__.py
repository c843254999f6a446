"""Views of a state: what a policy sees, as pure functions that write into given arrays."""
