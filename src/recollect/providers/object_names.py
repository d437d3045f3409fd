"""Import objects named ``module:attribute``, and name objects by where they are defined."""

from __future__ import annotations

import re
import sys
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from recollect.errors import UsageError

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
