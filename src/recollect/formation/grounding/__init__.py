"""Checks that an operation rests on what was said: quotes, speakers, pasted text, doubts."""
