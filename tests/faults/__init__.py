"""Faults that machines and people bring about, and what must be right after each: `make faults`."""
