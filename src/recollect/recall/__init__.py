"""Recall: find messages and memories by words and vectors, rank them, pack the answer."""
