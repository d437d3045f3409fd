"""One set of trusted certificates for all HTTP clients of a test process."""

import ssl
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

_PACKAGES: Final = ("httpx", "httpx2")


def share_trusted_certificates() -> None:
    """
    Load the trusted certificates once for all clients of httpx, not for each.

    A client loads them even for addresses without TLS, which takes 40 ms. The tests make
    thousands of clients, and all of them talk to this machine in plain HTTP.
    """
    for package in _PACKAGES:
        if find_spec(package):
            transports: Any = import_module(f"{package}._transports.default")
            transports.create_ssl_context = _shared(transports.create_ssl_context)


def _shared(create: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
    @cache
    def trusted(*, trust_env: bool) -> ssl.SSLContext:
        return create(trust_env=trust_env)

    def context(
        *, verify: ssl.SSLContext | str | bool = True, cert: Any = None, trust_env: bool = True
    ) -> ssl.SSLContext:
        if verify is True and cert is None:
            return trusted(trust_env=trust_env)
        return create(verify=verify, cert=cert, trust_env=trust_env)

    return context
