"""How every figure of Recollect is made: its benchmarks, their controls and their reports."""
