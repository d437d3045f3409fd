"""Benchmarks of Recollect, with their controls and reports."""
