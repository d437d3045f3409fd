"""
Runs programs of pages, each in a process of its own that has the common imports behind it.

Started as ``python page_runner.py ROOT``; a line of standard input is a JSON list of
the program's path, its working folder and the file for its errors, and is answered by a line with
its exit status. The network is closed, as it is in every test.
"""

import gc
import json
import os
import runpy
import sys

sys.path[0] = sys.argv[1]
from tests import conftest  # noqa: E402

conftest.forbid_network()
import langchain_core.messages  # noqa: E402, F401

import recollect.sync.facade  # noqa: E402, F401

del sys.path[0]


def main() -> None:
    """Fork for each program; the child leaves the loop, runs it and ends as a program does."""
    gc.freeze()  # what was imported is not looked through again in every child
    for line in sys.stdin:
        program, folder, errors = json.loads(line)
        child = os.fork()
        if not child:
            _settle(folder, errors)
            runpy.run_path(program, run_name="__main__")
            sys.exit(bool(conftest._refused))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _settle(folder: str, errors: str) -> None:
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(os.open(errors, os.O_CREAT | os.O_WRONLY), 2)


if __name__ == "__main__":
    main()
