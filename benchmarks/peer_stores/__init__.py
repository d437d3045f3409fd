"""Memory stores beside ours, each in a process of its own, with the same texts and vectors."""
