"""Random histories of a whole memory that combine every feature with every other."""
