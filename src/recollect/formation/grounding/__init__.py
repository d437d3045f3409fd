"""Whether an operation rests on what was said."""
