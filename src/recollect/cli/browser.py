"""Open the web page in the local user's browser."""

from __future__ import annotations

import threading
from collections.abc import Mapping


def has_display(environment: Mapping[str, str], platform: str) -> bool:
    """
    Return True if a graphical browser can open here.

    Without a display, the standard library would start a text browser in the terminal.

    >>> has_display({"DISPLAY": ":0"}, "linux"), has_display({}, "linux")
    (True, False)
    >>> has_display({}, "darwin"), has_display({"SSH_CONNECTION": "10.0.0.7"}, "darwin")
    (True, False)
    """
    if platform.startswith("linux"):
        return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
    # macOS and Windows have no such variable, but a window would open on the remote machine.
    return "SSH_CONNECTION" not in environment


def page_url(service: str, key: str) -> str:
    """
    Return the address that signs a tab in. The key is in the fragment, which is never sent.

    >>> page_url("http://127.0.0.1:8300", "rk_1"), page_url("http://127.0.0.1:8300", "")
    ('http://127.0.0.1:8300/#key=rk_1', 'http://127.0.0.1:8300/')
    """
    return f"{service}/#key={key}" if key else f"{service}/"


def open_browser(url: str) -> None:
    """Open *url* in a thread, because some browsers return only when they are closed."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
