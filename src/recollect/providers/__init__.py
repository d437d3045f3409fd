"""Providers of models and embedders: their addresses, keys, and errors."""
