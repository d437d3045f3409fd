"""Random histories of a whole memory, in which every feature meets every other."""
