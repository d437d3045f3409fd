"""Faults that tests and benchmarks bring about, and what must hold afterwards."""
