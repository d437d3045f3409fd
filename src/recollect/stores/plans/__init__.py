"""Plans: each operation of the store contract over rows, written once for all backends."""
