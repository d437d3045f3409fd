"""
mem0's own client as a process: carries out calls of lines on its input, as JSON.

Started with the folder that it is installed in, the address and key of a service, and "sync" or
"async". A line is ``[method, arguments, named arguments]``; the answer is ``{"result": …}`` or
``{"error": the class, "text": …}``.
"""

import asyncio
import inspect
import json
import sys
import warnings
from typing import Any


def told(client: Any, line: str) -> dict[str, Any]:
    """Return what a call gave."""
    method, arguments, named = json.loads(line)
    try:
        found = getattr(client, method)(*arguments, **named)
        return {"result": LOOP.run_until_complete(found) if inspect.isawaitable(found) else found}
    except Exception as error:  # noqa: BLE001 (the test looks at it)
        return {"error": type(error).__name__, "text": str(error)}


def main() -> None:
    """Make the client, and serve."""
    folder, host, key, kind = sys.argv[1:]
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    import mem0  # type: ignore[import-not-found]  # it has a folder of its own

    made = mem0.AsyncMemoryClient if kind == "async" else mem0.MemoryClient
    try:
        client = made(api_key=key, host=host)
    except ValueError as error:
        print(json.dumps({"error": "ValueError", "text": str(error)}), flush=True)  # noqa: T201
        return
    print(json.dumps({"result": mem0.__version__}), flush=True)  # noqa: T201
    for line in sys.stdin:
        print(json.dumps(told(client, line)), flush=True)  # noqa: T201


if __name__ == "__main__":
    LOOP = asyncio.new_event_loop()
    main()
