"""Checks that an operation rests on what was said."""
