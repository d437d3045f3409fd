"""Adapters to what people already use; each needs the package that it is named after."""
