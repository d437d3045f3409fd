"""What is offered without ``await`` and with it is the same: parameters, docstrings, results."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Self

import pytest

import recollect
from recollect import Recollect, SyncRecollect
from recollect.client import Client, SyncClient
from recollect.conversation import CombinedMemory, SimpleMemory
from recollect.conversation.base import BaseMemory
from recollect.errors import MissingExtraError, StoreClosedError
from recollect.sync.generated_methods import SyncFace, sync_iterator, sync_method
from recollect.sync.method_pairs import delegated_pair, method_pair, prepared_pair, threaded

Method = Callable[..., Any]
APART = ("crewai", "google-adk")
"""Extras of frameworks whose tests have an environment of their own: see `tests/frameworks`."""
PACKAGES = ("agents", "chat", "client", "conversation", "graph", "integrations", "sync")
# What takes a function to where the object lives: only a face has such a place.
VISITS = frozenset({"call", "acall", "here", "before_close"})
# What the package's own parts use where the memory lives: no face shows it.
INSIDE = frozenset({"embed", "over", "turns", "worker"})
# Pairs that are written by hand, and why they cannot be made from one function.
BY_HAND = {
    "wrap_model_call": "the model is called by a handler of another type",
    "list": "yields",
    "from_gml": "makes the object",
    "from_messages": "makes the object",
    "predict_new_summary": "a program overrides the awaited one",
    "call": "the protocol of the tools, and the way into a face",
}


def public(class_: type) -> dict[str, Any]:
    """Return the methods and properties of our own that a user sees, as they are defined."""
    return {
        name: each
        for owner in reversed(class_.__mro__)
        if owner.__module__.startswith(("recollect.", __name__))
        for name, each in vars(owner).items()
        if not name.startswith("_")
    }


def parameters(method: Method) -> list[str]:
    """Return the parameters as they are written, and how each may be given."""
    found = inspect.signature(method).parameters.values()
    return [f"{each} ({each.kind.description})" for each in found]


def returned(method: Method) -> str:
    """Return the type of the result as it is written, that of the awaited or iterated one."""
    return str(inspect.signature(method).return_annotation).removeprefix("Async")


def is_awaited(method: object) -> bool:
    """Return True if a method is called with ``await``, or iterated with ``async for``."""
    return inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)


def twin_differences(name: str, waiting: Any, awaited: Any, *, doc: bool = True) -> list[str]:
    """Return how a method without ``await`` differs from its twin with it."""
    one, other = (getattr(each, "__func__", each) for each in (waiting, awaited))
    if not callable(one):
        return [f"{name} is no method"]
    found = []
    if is_awaited(one):
        found.append(f"{name} is awaited")
    if parameters(one) != parameters(other):
        found.append(f"{name} takes {parameters(one)}, not {parameters(other)}")
    if returned(one) != returned(other):
        found.append(f"{name} returns {returned(one)}, not {returned(other)}")
    if doc and inspect.getdoc(one) != inspect.getdoc(other):
        found.append(f"{name} has another docstring")
    return found


def face_differences(face: type, behind: type) -> list[str]:
    """Return how a class without ``await`` differs from the asynchronous one."""
    ours = {name: each for name, each in public(face).items() if name not in VISITS}
    theirs = {name: each for name, each in public(behind).items() if name not in INSIDE}
    found = [f"{name} is on one side only" for name in sorted(ours.keys() ^ theirs.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        if isinstance(theirs[name], property):
            one, other = ours[name].fget, theirs[name].fget
            found += twin_differences(name, one, other, doc=False)
        else:
            found += twin_differences(name, ours[name], theirs[name])
    return found


def pairs_of(class_: type) -> Iterator[tuple[str, object, object, bool]]:
    """Yield each name with its two methods, and whether the same class defines both."""
    methods = public(class_)
    for name, each in methods.items():
        awaited = methods.get(f"a{name}")
        is_method = not isinstance(each, property)
        if is_method and name not in BY_HAND and is_awaited(awaited):
            owners = [owner for owner in class_.__mro__ if {name, f"a{name}"} & vars(owner).keys()]
            yield name, each, awaited, {name, f"a{name}"} <= vars(owners[0]).keys()


def pair_differences(class_: type) -> list[str]:
    """Return how the methods ``x`` and ``ax`` of a class differ."""
    return [
        difference
        for name, waiting, awaited, doc in pairs_of(class_)
        for difference in twin_differences(name, waiting, awaited, doc=doc)
    ]


def modules() -> Iterator[ModuleType]:
    """Yield the modules that users call; not one over a framework that is installed apart."""
    for package in PACKAGES:
        root = import_module(f"recollect.{package}")
        for each in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            try:
                yield import_module(each.name)
            except MissingExtraError as error:
                if error.extra not in APART:
                    raise


def classes() -> Iterator[type]:
    """Yield the classes of the package that users call."""
    for module in modules():
        for found in vars(module).values():
            if inspect.isclass(found) and found.__module__ == module.__name__:
                yield found


# Classes without ``await``


@pytest.mark.parametrize(("face", "behind"), [(SyncRecollect, Recollect), (SyncClient, Client)])
def test_a_face_has_every_method_of_the_class_behind_it(face: type, behind: type) -> None:
    """With its parameters, defaults and docstring; it returns what is awaited there."""
    assert face_differences(face, behind) == []


@pytest.mark.parametrize(("face", "behind"), [(SyncRecollect, Recollect), (SyncClient, Client)])
def test_a_face_writes_no_method_by_hand(face: type, behind: type) -> None:
    """Each is made from the one behind it."""
    assert methods_by_hand(face, behind) == []


def methods_by_hand(face: type, behind: type) -> list[str]:
    """Return the names of the methods that are not made from those of the class behind."""
    return [
        name
        for name, each in public(face).items()
        if callable(each)
        and name not in VISITS
        and inspect.unwrap(each) is not public(behind).get(name)
    ]


def test_both_memories_are_opened_alike() -> None:
    """By the same arguments with the same defaults."""
    assert parameters(recollect.open) == parameters(recollect.open_sync)


class Behind:
    """A small object to be compared with."""

    async def recall(self, query: str, *, limit: int = 10) -> str:
        """Return something."""
        return query * limit

    async def export(self, query: str) -> AsyncIterator[str]:
        """Yield something."""
        yield query


class Alike(SyncFace[Any]):
    """A face made as ours are."""

    recall = sync_method(Behind.recall)
    export = sync_iterator(Behind.export)


class WithoutAMethod(SyncFace[Any]):
    """A face that forgot one."""

    recall = sync_method(Behind.recall)


class WithAnotherMethod(Alike):
    """A face that can do more."""

    def guess(self) -> None:
        """Do something that nobody asked for."""


class WithoutTheParameter(Alike):
    """A face that forgot the limit."""

    def recall(self, query: str) -> str:  # type: ignore[override]  # the fault
        """Return something."""
        return query


class WithAnotherDefault(Alike):
    """A face with another limit."""

    def recall(self, query: str, *, limit: int = 5) -> str:
        """Return something."""
        return query * limit


class WithAPositionalParameter(Alike):
    """A face that lets the limit be given without its name."""

    def recall(self, query: str, limit: int = 10) -> str:
        """Return something."""
        return query * limit


class WithAnotherResult(Alike):
    """A face that answers something else."""

    def recall(self, query: str, *, limit: int = 10) -> bytes:  # type: ignore[override]  # the fault
        """Return something."""
        return query.encode() * limit


class WithAnotherDocstring(Alike):
    """A face that says something else."""

    def recall(self, query: str, *, limit: int = 10) -> str:
        """Return something else."""
        return query * limit


class StillAwaited(Alike):
    """A face whose method has to be awaited."""

    recall = Behind.recall  # type: ignore[assignment]  # the fault


def test_a_face_that_is_alike_is_not_reported() -> None:
    """The check tells faults, and not the mechanism."""
    assert face_differences(Alike, Behind) == []
    assert methods_by_hand(Alike, Behind) == []


@pytest.mark.parametrize(
    "mutant",
    [
        WithoutAMethod,
        WithAnotherMethod,
        WithoutTheParameter,
        WithAnotherDefault,
        WithAPositionalParameter,
        WithAnotherResult,
        WithAnotherDocstring,
        StillAwaited,
    ],
)
def test_a_face_that_differs_is_caught(mutant: type) -> None:
    """Each kind of difference is reported, and once."""
    assert len(face_differences(mutant, Behind)) == 1


def test_a_method_by_hand_is_caught() -> None:
    """Also one that says the same."""
    assert methods_by_hand(WithAnotherDefault, Behind) == ["recall"]


# Pairs in one class


def test_the_methods_of_every_pair_say_the_same() -> None:
    """In each class of the package that has some."""
    found = [each for each in classes() if any(pairs_of(each))]

    assert {"Examples", "KnowledgeGraph", "MemoryTools", "RecollectVectorStore"} <= {
        each.__name__ for each in found
    }
    assert {each: pair_differences(each) for each in found if pair_differences(each)} == {}


class Paired:
    """Pairs made in each way."""

    home: Any

    async def _read(self, memory: Recollect, key: str, *, limit: int = 1) -> list[str]:
        """Read something."""
        return [key] * limit

    async def _both(self, call: Any, key: str) -> list[str]:
        """Read something of another object."""
        found: list[str] = await call(self.read, self.aread, key)
        return found

    def find(self, key: str) -> str:
        """Find something."""
        return key

    def _write(self, key: str, *, limit: int = 1) -> Callable[[Recollect], Awaitable[list[str]]]:
        """Check what is given, and write."""
        return lambda memory: self._read(memory, key, limit=limit)

    read, aread = method_pair(_read)
    write, awrite = prepared_pair(_write)
    both, aboth = delegated_pair(_both)
    afind = threaded(find)


class WithAnotherTwin(Paired):
    """The awaited one has another default."""

    def read(self, key: str, *, limit: int = 1) -> list[str]:
        """Read something."""
        return [key] * limit

    async def aread(self, key: str, *, limit: int = 2) -> list[str]:
        """Read something."""
        return [key] * limit


class WithATwinThatSaysLess(Paired):
    """The awaited one only names the other."""

    def find(self, key: str) -> str:
        """Find something."""
        return key

    async def afind(self, key: str) -> str:
        """Do the same as `find`."""
        return key


def test_pairs_that_are_made_say_the_same() -> None:
    """Names are those of the methods, and the memory is no parameter."""
    assert pair_differences(Paired) == []
    assert [name for name, *_ in pairs_of(Paired)] == ["find", "read", "write", "both"]
    for method in (Paired.aread, Paired.write):
        written = str(inspect.signature(method)).replace("'", "")
        assert written == "(self, key: str, *, limit: int = 1) -> list[str]"
    assert ("read", "aread", "afind") == tuple(
        each.__name__ for each in (Paired.read, Paired.aread, Paired.afind)
    )


@pytest.mark.parametrize("mutant", [WithAnotherTwin, WithATwinThatSaysLess])
def test_a_pair_that_differs_is_caught(mutant: type) -> None:
    """Another default, and another docstring."""
    assert len(pair_differences(mutant)) == 1


# What a made method does


class Counter:
    """An asynchronous object that counts, and knows whether somebody stopped half way."""

    is_stopped = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Leave nothing."""

    async def count(self, *, first: int = 0) -> AsyncIterator[int]:
        """Yield numbers."""
        try:
            while True:
                yield first
                first += 1
        finally:
            self.is_stopped = True

    async def stopped(self) -> bool:
        """Return True if the iteration was ended."""
        return self.is_stopped


class SyncCounter(SyncFace[Counter]):
    """The same without ``await``."""

    count = sync_iterator(Counter.count)
    stopped = sync_method(Counter.stopped)


def test_an_iteration_that_is_left_half_way_is_ended() -> None:
    """What it holds is let go, and the object can still be used; a closed one refuses."""
    with SyncCounter(Counter, how_to_open="use it inside 'with'") as counter:
        numbers = counter.count(first=3)

        assert [3, 4] == [next(numbers), next(numbers)]
        assert not counter.stopped()
        numbers.close()  # type: ignore[attr-defined]  # it is a generator
        assert counter.stopped()

    with pytest.raises(StoreClosedError, match="inside 'with'"):
        counter.stopped()


class OwnMemory(BaseMemory):
    """A memory of a program's own that has only what is called without ``await``."""

    def __init__(self) -> None:
        self.said: list[str] = []

    @property
    def memory_variables(self) -> list[str]:
        """The one variable."""
        return ["said"]

    def load_memory_variables(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was said."""
        return {"said": list(self.said)}

    def save_context(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Keep what was said."""
        self.said.append(str(inputs["input"]))

    def clear(self) -> None:
        """Forget what was said."""
        self.said.clear()


async def test_a_memory_without_awaited_methods_is_awaited_on_a_thread() -> None:
    """Its own methods are called, alone and among several."""
    own = OwnMemory()
    both = CombinedMemory([own, SimpleMemory({"tone": "brief"})])

    await both.asave_context({"input": "Hello"}, {"output": "Hi"})

    assert {"said": ["Hello"], "tone": "brief"} == await both.aload_memory_variables({})
    assert {"said": ["Hello"], "tone": "brief"} == both.load_memory_variables({})
    await own.aclear()
    assert [] == own.said
