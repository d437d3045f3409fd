"""Commands of `python -m benchmarks` with their own module."""
