"""Name models of sentence-transformers by their weights."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

_VALUES: Final = 16
"""Values of each parameter in the digest; training changes some in nearly every parameter."""
_DIGITS: Final = 12


def weights_name(model: Any) -> str | None:
    """
    Return the name of a model's weights; ``None`` if it cannot be determined.

    Weights from a hub have their name there. Weights from a folder are named by a digest of their
    values, so that separately trained models have different names, and a folder can be moved.
    """
    name = _loaded_from(model)
    if name is not None and not Path(name).exists():
        return name
    digest = _digest(model)
    return f"weights-{digest}" if digest else _named_by_card(model)


def _loaded_from(model: Any) -> str | None:
    """Return the name or folder in the configuration of transformers; ``None`` if missing."""
    try:
        inner = getattr(model, "config", None) or model[0].auto_model.config
    except (AttributeError, TypeError, IndexError, KeyError):
        return None
    name = getattr(inner, "_name_or_path", None)
    return name if isinstance(name, str) and name else None


def _named_by_card(model: object) -> str | None:
    card = getattr(model, "model_card_data", None)
    found = (getattr(card, name, None) for name in ("base_model", "model_id", "model_name"))
    return next((each for each in found if isinstance(each, str) and each), None)


def _digest(model: Any) -> str:
    """Return a digest of the first values of each parameter; empty if it has none."""
    parameters: Iterable[tuple[str, Any]] = getattr(model, "named_parameters", tuple)()
    digest, is_known = sha256(), False
    for name, values in parameters:
        is_known = True
        first = values.detach().flatten()[:_VALUES].float().tolist()
        digest.update(name.encode() + struct.pack(f"<{len(first)}f", *first))
    return digest.hexdigest()[:_DIGITS] if is_known else ""
