"""The store contract: every public call, shared by all backends."""
