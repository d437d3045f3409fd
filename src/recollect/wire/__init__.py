"""The one form in which records are written as JSON."""
