"""The worker: claims what is due, has a model form it, and commits, each effect exactly once."""
