"""The tests, and what only they and the benchmarks need: faults, servers, models of a store."""
