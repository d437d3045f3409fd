"""What each operation of the store contract means: plans over rows, once for all backends."""
