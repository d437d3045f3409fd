"""What the originals are made with, and what they offer: ours have it under the same names."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.load.serializable import Serializable
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic_core import PydanticUndefined

from recollect import conversation

pytest.importorskip("langchain_classic", reason="the originals are compared with")
pytest.importorskip("langchain_community", reason="the graph memory is there")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_classic import memory as classic
    from langchain_community.memory.kg import ConversationKGMemory


def model() -> FakeListLLM:
    return FakeListLLM(responses=["NONE"])


def retriever() -> Any:
    return InMemoryVectorStore(embedding=None).as_retriever()  # type: ignore[arg-type]


# What each cannot be made without, of the module whose memories are meant.
NEEDED: dict[str, Callable[[Any], dict[str, Any]]] = {
    "ConversationBufferMemory": lambda _: {},
    "ConversationBufferWindowMemory": lambda _: {},
    "ConversationTokenBufferMemory": lambda _: {"llm": model()},
    "ConversationSummaryMemory": lambda _: {"llm": model()},
    "ConversationSummaryBufferMemory": lambda _: {"llm": model()},
    "ConversationEntityMemory": lambda _: {"llm": model()},
    "ConversationKGMemory": lambda _: {"llm": model()},
    "VectorStoreRetrieverMemory": lambda _: {"retriever": retriever()},
    "CombinedMemory": lambda module: {"memories": [module.SimpleMemory(memories={"a": "b"})]},
    "ReadOnlySharedMemory": lambda module: {"memory": module.SimpleMemory()},
    "SimpleMemory": lambda _: {},
    "InMemoryEntityStore": lambda _: {},
}
# Differences, each with its reason; one that is none any more fails, too.
MISSING = {
    ("CombinedMemory", "check_input_key"): "a validator of pydantic's",
    ("ConversationSummaryMemory", "validate_prompt_input_variables"): "a validator of pydantic's",
    ("ConversationSummaryBufferMemory", "validate_prompt_input_variables"): "a validator, too",
}
OTHER_DEFAULTS: dict[tuple[str, str], str] = {}
OTHER_PARAMETERS: dict[tuple[str, str], str] = {}
PLAIN = (str, int, bool, list, tuple, dict, type(None))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def original(name: str) -> Any:
    return ConversationKGMemory if name == "ConversationKGMemory" else getattr(classic, name)


def both(name: str) -> tuple[Any, Any]:
    theirs = original(name)(**NEEDED[name](classic))
    return theirs, getattr(conversation, name)(**NEEDED[name](conversation))


def fields_of(name: str) -> dict[str, Any]:
    """Return the parameters of the original with their plain defaults."""
    return {
        each: PydanticUndefined if about.is_required() else about.get_default()
        for each, about in original(name).model_fields.items()
    }


def offered(name: str) -> set[str]:
    """Return the names that the original offers, but for what pydantic gives to every class."""
    members = {each for each in dir(original(name)) if not each.startswith("_")}
    return (members - set(dir(Serializable))) | set(fields_of(name))


def parameters_of(method: Any) -> list[tuple[str, object]]:
    found = inspect.signature(method).parameters.values()
    return [(each.name, each.default) for each in found if each.kind is not each.VAR_KEYWORD]


@pytest.mark.parametrize("name", NEEDED)
def test_ours_offer_what_the_originals_do(name: str) -> None:
    """Every public attribute and method, but for those that are listed."""
    _, ours = both(name)
    missing = {(name, each) for each in offered(name) if not hasattr(ours, each)}

    assert {each for each in MISSING if each[0] == name} == missing


@pytest.mark.parametrize("name", NEEDED)
def test_ours_are_made_with_what_the_originals_are(name: str) -> None:
    """Every parameter by its name, which the memory then has, to read and to set."""
    theirs, _ = both(name)
    needed = NEEDED[name](conversation)
    plain = {
        each: getattr(theirs, each)
        for each in fields_of(name)
        if each not in needed and isinstance(getattr(theirs, each), PLAIN)
    }

    ours = getattr(conversation, name)(**needed, **plain)

    for each, value in plain.items():
        if (name, each) not in OTHER_DEFAULTS and each != "buffer":
            assert value == getattr(ours, each), each
            setattr(ours, each, value)


@pytest.mark.parametrize("name", NEEDED)
def test_the_defaults_are_the_originals(name: str) -> None:
    """Of every parameter with a plain default, but for those that are listed."""
    theirs, ours = both(name)
    other = {
        (name, each)
        for each in set(fields_of(name)) - set(NEEDED[name](conversation))
        if isinstance(getattr(theirs, each), PLAIN) and getattr(theirs, each) != getattr(ours, each)
    }

    assert {each for each in OTHER_DEFAULTS if each[0] == name} == other


@pytest.mark.parametrize("name", NEEDED)
def test_the_methods_take_what_the_originals_take(name: str) -> None:
    """The same names in the same order with the same defaults, and more behind them."""
    theirs, ours = both(name)
    methods = [
        each
        for each in offered(name)
        if inspect.isroutine(getattr(type(theirs), each, None)) and hasattr(ours, each)
    ]
    other = set()
    for each in methods:
        expected = parameters_of(getattr(theirs, each))
        if expected != parameters_of(getattr(ours, each))[: len(expected)]:
            other.add((name, each))

    assert {each for each in OTHER_PARAMETERS if each[0] == name} == other


# What a program may have left of another memory; the originals ignore what they do not know.
LEFT_OVER: dict[str, Any] = {
    "k": 1,
    "max_token_limit": 40,
    "memory_key": "history",
    "chat_history_key": "history",
    "return_messages": True,
    "return_docs": True,
    "human_prefix": "User",
    "buffer": "",
    "verbose": True,
}


@pytest.mark.parametrize("name", NEEDED)
def test_ours_are_made_with_whatever_the_originals_take(name: str) -> None:
    """Parameters of the other memories, too: they change nothing, but a warning tells of them."""
    original(name)(**NEEDED[name](classic), **LEFT_OVER)
    needed = NEEDED[name](conversation)

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        getattr(conversation, name)(**needed, **LEFT_OVER)

    ignored = [each for each in warned if "is ignored" in str(each.message)]
    told = {str(each.message).split("'")[1] for each in ignored}
    assert "verbose" in told
    assert told <= LEFT_OVER.keys() - fields_of(name).keys()
    assert {__file__} == {each.filename for each in ignored}


def test_the_example_of_a_misspelt_parameter_is_told() -> None:
    with pytest.warns(UserWarning, match=r"ConversationBufferMemory has no parameter 'k'"):
        conversation.ConversationBufferMemory(k=1)  # type: ignore[call-arg]
