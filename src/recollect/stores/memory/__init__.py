"""The store in this process: the reference implementation, gone with its process."""
