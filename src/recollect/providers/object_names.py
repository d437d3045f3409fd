"""Import objects named ``module:attribute``; name callables and models, and check callables."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterable
from functools import reduce
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final

from recollect.errors import UsageError

_VALUES: Final = 16
"""Values of each parameter in the digest; training changes some in nearly every parameter."""
_DIGITS: Final = 12
# Provider names, ours and LangChain's: "openai:gpt-x" is a model, not a module's attribute.
PROVIDERS: Final = frozenset(
    """
    anthropic anthropic_bedrock azure azure_ai azure_openai baseten bedrock bedrock_converse cohere
    deepseek fastembed fireworks gemini google google_anthropic_vertex google_genai google_vertexai
    groq huggingface ibm litellm meta mistral mistralai nvidia ollama openai openrouter perplexity
    together upstage vertex_ai xai
    """.split()
)
_NAMED: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def is_object_name(choice: str) -> bool:
    """
    Return True if *choice* has the form ``module:attribute``, and does not start with a provider.

    >>> [is_object_name(name) for name in ("app.models:chat", "openai:gpt_x", "qwen/chat")]
    [True, False, False]
    """
    module = choice.partition(":")[0]
    return _NAMED.fullmatch(choice) is not None and module.lower() not in PROVIDERS


def check_module(choice: str) -> None:
    """
    Raise if there is no module of the name in ``module:attribute``; its code is not run.

    Raises:
        UsageError: There is no such module.
    """
    package = choice.partition(":")[0].partition(".")[0]
    if sys.modules.get(package) is None and find_spec(package) is None:
        raise _no_module(choice)


def named_object(choice: str) -> object:
    """
    Import the object that ``module:attribute`` names; instantiate a class without arguments.

    Security: the module's code runs in this process. Never pass a name from a request.

    Raises:
        UsageError: There is no such module or attribute, or the class needs arguments.
    """
    module, _, path = choice.partition(":")
    try:
        found: object = reduce(getattr, path.split("."), import_module(module))
        return found() if isinstance(found, type) else found
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists, but one of its own imports does not
        raise _no_module(choice) from error
    except (AttributeError, TypeError) as error:
        raise UsageError(f"there is no object {choice!r}: {error}") from error


def _no_module(choice: str) -> UsageError:
    return UsageError(
        f"{choice!r} names neither a provider nor a module: write 'provider/model', or "
        "'module:attribute' of a module on the path (PYTHONPATH=. adds the folder you are in)"
    )


def identity_of(choice: object, *, joint: str = "/") -> str:
    """
    Return the ``identity`` of an object, else the module and name of it or its class.

    >>> identity_of(identity_of), identity_of(3, joint=".")
    ('recollect.providers.object_names/identity_of', 'builtins.int')
    """
    named = getattr(choice, "identity", None)
    if isinstance(named, str) and named:
        return named
    kind = choice if hasattr(choice, "__qualname__") else type(choice)
    return f"{kind.__module__}{joint}{kind.__qualname__}"


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


def is_async(function: object) -> bool:
    """
    Return True if calling *function* returns a coroutine, as far as its definition says.

    >>> async def ask(request): ...
    >>> is_async(ask), is_async(len)
    (True, False)
    """
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 (an object may have an async one)
    )


def check_plain(function: object, what: str) -> None:
    """
    Raise if a function that is called in a thread is defined with ``async def``.

    Raises:
        UsageError: It is; *what* says in its message what the function is for.
    """
    if is_async(function):
        raise UsageError(
            f"the {what} {identity_of(function)} is async: define it with `def`; it is called in a "
            "thread, so it may block"
        )
