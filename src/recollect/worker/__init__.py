"""The worker: claims due threads, asks a model for memories, and commits each exactly once."""
