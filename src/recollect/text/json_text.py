"""Write small JSON documents often: an encoder that is set up once, not for each document."""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder as _json_encoder


def json_writer(encoder: json.JSONEncoder) -> Callable[[object], str]:
    r"""
    Return a function that writes the same text as ``encoder.encode``.

    ``encode`` builds its C encoder anew for every document, which takes longer than to write a
    small one. Only for documents that do not contain themselves.

    >>> json_writer(json.JSONEncoder(separators=(",", ":")))({"a": [1, "ü"]})
    '{"a":[1,"\\u00fc"]}'
    """
    make = getattr(_json_encoder, "c_make_encoder", None)
    if make is None or encoder.indent is not None:  # not CPython
        return encoder.encode
    quote = _json_encoder.encode_basestring_ascii
    if not encoder.ensure_ascii:
        quote = _json_encoder.encode_basestring
    write = make(
        None,  # no search for documents that contain themselves
        encoder.default,
        quote,
        None,
        encoder.key_separator,
        encoder.item_separator,
        encoder.sort_keys,
        encoder.skipkeys,
        encoder.allow_nan,
    )
    return lambda document: "".join(write(document, 0))
