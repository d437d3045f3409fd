"""Observability of a memory: health of its tasks, logs, and spans."""
