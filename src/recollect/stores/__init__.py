"""Durable homes for what is remembered: the contract, and one folder or module a backend."""
