"""The commands of `recollect`, one module each."""
