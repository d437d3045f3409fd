"""The store in one SQLite file: the default, without a server."""
