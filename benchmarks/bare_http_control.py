"""Control: a minimal application on the same server and protocol, which measures HTTP alone."""

from __future__ import annotations

import sys
from typing import Any, Final

import uvicorn

_STREAM: Final = "/stream"
_JSON: Final = [(b"content-type", b"application/json"), (b"content-length", b"2")]
_EVENTS: Final = [(b"content-type", b"text/event-stream")]


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """Read the body and answer 201; at ``/stream`` answer a stream that stays silent."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body", False):
        pass
    if scope["path"] == _STREAM:
        await send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
        await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await send({"type": "http.response.start", "status": 201, "headers": _JSON})
    await send({"type": "http.response.body", "body": b"{}"})


class _Telling(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:
        """Report the port it listens on."""
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(f"serving at http://127.0.0.1:{port}\n")
        sys.stdout.flush()


def main() -> None:
    """Serve until ended."""
    config = uvicorn.Config(
        bare,
        port=0,
        http="httptools",
        ws="none",
        loop="uvloop",
        lifespan="off",
        log_config=None,
        access_log=False,
    )
    _Telling(config).run()


if __name__ == "__main__":
    main()
