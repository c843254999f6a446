"""Fuzzing with coverage of every entrance that takes bytes or text: `make fuzz`."""
