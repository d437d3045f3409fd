"""Run a benchmark: ``python -m benchmarks NAME``, at the root of the repository."""

from __future__ import annotations

from benchmarks.program import main

if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
