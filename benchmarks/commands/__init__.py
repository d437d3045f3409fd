"""The commands of `python -m benchmarks` that have a module of their own."""
