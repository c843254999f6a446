"""Measurements of npp_env; `python -m benchmarks` runs them."""
