"""
Runs the scenarios of a framework in the environment where that is installed.

Started as ``python scenario_runner.py FILE``; prints a JSON object with the traceback of each
scenario of the file, ``null`` for one that passed. The network is closed but for loopback.
"""

import asyncio
import inspect
import json
import runpy
import sys
import traceback
from typing import Any


def _refuse_other_machines(event: str, arguments: tuple[object, ...]) -> None:
    if event not in {"socket.connect", "socket.getaddrinfo"}:
        return
    address = arguments[1 if event == "socket.connect" else 0]
    host = address[0] if isinstance(address, tuple) and address else address
    if isinstance(host, str) and host not in {"", "localhost", "127.0.0.1", "::1"}:
        msg = f"a scenario reached for {host!r}: only loopback is allowed"
        raise RuntimeError(msg)


def outcome(scenario: Any) -> str | None:
    """Return the traceback of a scenario, ``None`` if it passed."""
    try:
        result = scenario()
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except Exception:  # noqa: BLE001 (the test reports it)
        return traceback.format_exc()
    return None


def main() -> None:
    """Run each function of the file whose name begins with ``scenario_``."""
    sys.addaudithook(_refuse_other_machines)
    found = runpy.run_path(sys.argv[1])
    scenarios = {name: each for name, each in found.items() if name.startswith("scenario_")}
    outcomes = {name: outcome(each) for name, each in scenarios.items()}
    sys.stdout.write("\n" + json.dumps(outcomes) + "\n")


if __name__ == "__main__":
    main()
