"""Observability of a memory: health, logs, metrics and traces."""
