"""Adapters to other frameworks; each subpackage needs the package that it is named after."""
