"""Learning: what trains agents on the environments of this package."""
