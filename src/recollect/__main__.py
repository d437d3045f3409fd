"""Run the command line as ``python -m recollect``."""

from __future__ import annotations

from recollect.cli.program import main

if __name__ == "__main__":
    main(prog_name="recollect")
