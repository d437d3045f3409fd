"""`open_model`: open a model by name, or adapt an object as one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias, overload

from recollect.errors import UsageError
from recollect.models.callables import Ask, CallableModel
from recollect.models.langchain_model import LangChainModel, is_langchain
from recollect.models.named_model import NamedModel
from recollect.models.provider_client import TIMEOUT_S, TOOL_MODES, ToolMode
from recollect.models.structured_output import PromptedModel
from recollect.ports import Model
from recollect.providers.environment import load_environment
from recollect.providers.object_names import is_object_name, named_object

ModelChoice: TypeAlias = "str | Model | Ask | object | None"
"""The argument of `open_model`; an ``object`` is a LangChain chat model."""

RULES: Final = "rules"
"""The name of the built-in model of fixed rules."""
_OF_A_MODEL: Final = ("identity", "answer", "stream")
"""Names of the attributes of a `Model`."""


@overload
def open_model(  # type: ignore[overload-overlap]  # `object` includes None; the first one wins
    choice: None,
    *,
    base_url: None = None,
    api_key: None = None,
    tools: ToolMode = "auto",
    timeout_s: float = TIMEOUT_S,
    settings: None = None,
    env_file: str | Path | None = None,
) -> None: ...
@overload
def open_model(
    choice: str | Model | Ask | object,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    tools: ToolMode = "auto",
    timeout_s: float = TIMEOUT_S,
    settings: Mapping[str, object] | None = None,
    env_file: str | Path | None = None,
) -> Model: ...
def open_model(
    choice: ModelChoice,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    tools: ToolMode = "auto",
    timeout_s: float = TIMEOUT_S,
    settings: Mapping[str, object] | None = None,
    env_file: str | Path | None = None,
) -> Model | None:
    """
    Return the model that *choice* names; no request is sent yet.

    Args:
        choice: ``"provider/model"`` or ``"provider:model"``; ``"module:attribute"`` for an object
            of your own; ``"rules"`` for a model of fixed rules, which needs no provider and
            understands a few plain sentences, to try things out; a LangChain chat model; a
            function, see `CallableModel`; a `Model`, whose timeouts and errors are its own;
            ``None`` for no model. ``openai``, ``anthropic`` and ``ollama`` are called through
            their own clients, other providers through LangChain's classes.
        base_url: The address of a named model: ``"openai/<name>"`` with it is any server that
            speaks OpenAI's protocol (vLLM, llama.cpp, a gateway). Such a model gets tools as a JSON
            Schema if *tools* is ``"auto"``, as local servers follow a schema reliably. No key from
            the environment is sent there. Defaults to the provider's variable in the environment,
            e.g. ``OPENAI_BASE_URL``, to which the environment's key is sent.
        api_key: The key of a named model; by default from the provider's variable.
        tools: How the model gets tools: ``"native"``, as a ``"json_schema"`` of its answer, in the
            ``"prompt"``, or ``"auto"``: the best way that it supports.
        timeout_s: The timeout of a whole answer, including the client's retries.
        settings: Of a named model: more fields of each request, e.g. ``temperature``, and
            ``max_retries`` of the client; for other providers, arguments of LangChain's class.
        env_file: Of a named model: a file of variables to load first, see `load_environment`.

    Raises:
        UsageError: *choice* is none of these, or names no known provider or module.
        MissingExtraError: The provider's package, or LangChain, is not installed.
        ModelDeniedError: The provider needs a key, and there is none.
        ModelError: The provider's class refuses the settings.
    """
    if tools not in TOOL_MODES or not timeout_s > 0:
        msg = f"tools={tools!r}, timeout_s={timeout_s!r}: use one of {TOOL_MODES}, above 0 s"
        raise UsageError(msg)
    if choice == RULES:
        from recollect.formation.rule_model import RuleModel

        choice = RuleModel()
    if isinstance(choice, str) and not is_object_name(choice.strip()):
        if env_file is not None:
            load_environment(env_file)
        asked = NamedModel(choice, base_url=base_url, api_key=api_key, settings=settings)
        return asked.opened(tools, timeout_s)
    if base_url is not None or api_key is not None or settings is not None:
        msg = "base_url, api_key and settings need 'provider/model': an object has its own"
        raise UsageError(msg)
    if isinstance(choice, str):
        choice = named_object(choice.strip())
    return None if choice is None else _adapted(choice, tools, timeout_s)


def _adapted(choice: object, tools: ToolMode, timeout_s: float) -> Model:
    """Return *choice*, an object, as a `Model`."""
    if isinstance(choice, type):
        raise UsageError(f"{choice.__name__} is a class: pass an instance of it")
    if not isinstance(choice, Model) and is_langchain(choice):
        return LangChainModel(choice, tools=tools, timeout_s=timeout_s)
    if tools == "json_schema":
        msg = "tools='json_schema' needs a LangChain model or 'provider/model'; use 'prompt'"
        raise UsageError(msg)
    model: Model
    if isinstance(choice, Model):
        model = choice
    elif callable(choice):
        model = CallableModel(choice, timeout_s=timeout_s)
    else:
        raise UsageError(f"{type(choice).__name__} is no model: {_lacking(choice)}")
    return PromptedModel(model) if tools == "prompt" else model


def _lacking(choice: object) -> str:
    """Return what an object lacks to be a model, in words."""
    absent = [each for each in _OF_A_MODEL if not hasattr(choice, each)]
    if len(absent) == len(_OF_A_MODEL):
        return "it has neither answer(), ainvoke() nor a call"
    names = " and ".join(absent)
    return f"it lacks {names}; a Model has {', '.join(_OF_A_MODEL)}, or pass a function"
