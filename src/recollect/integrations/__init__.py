"""Adapters to other people's programs, and nothing else."""
