"""How a memory does: health of its tasks, logs, and spans."""
