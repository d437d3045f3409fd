"""Reader of pickles as data: it imports, calls and runs nothing that a pickle names."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pickletools import genops
from typing import Any, Final, TypeAlias, TypeVar

from recollect.errors import UsageError
from recollect.importers.import_entries import shown
from recollect.stores.validation import JSON_DEPTH_MAX

VALUES_MAX: Final = 100_000
"""
The most values that a pickle may hold, each counted as often as it is referred to.

References to references let a few bytes stand for any number of values.
"""
_PROTOCOL_OPCODE: Final = b"\x80"
_FIELDS: Final = "__dict__"
"""The part of an object's state with its fields, as Pydantic's models pickle it."""

KindT = TypeVar("KindT")
_Class: TypeAlias = tuple[str, str]
"""The module and the name of a class."""


class PickledObject:
    """An object of a pickle: the name of its class, and its fields."""

    def __init__(self, class_name: str) -> None:
        self.class_name: Final = class_name
        self.fields: Final[dict[str, object]] = {}

    def dict(self) -> dict[str, object]:
        """Return the fields; `recollect.conversation.json_form` calls this method."""
        return self.fields


def is_pickle(begins: bytes) -> bool:
    """Return True if bytes begin as pickles of protocol 2 and later do; no UTF-8 text does."""
    return begins.startswith(_PROTOCOL_OPCODE)


def read_pickle(content: bytes, classes: Collection[_Class]) -> object:
    """
    Return the content of a pickle: plain values, and a `PickledObject` per object of *classes*.

    Interprets the pickle's opcodes (those of the standard library's ``pickletools``, up to protocol
    5) that only build values. A set becomes a list. Classes are never looked up, so nothing that a
    pickle names is imported.

    Raises:
        UsageError: The pickle names another class or a function, calls something, is damaged, or is
            larger than ``VALUES_MAX``.
    """
    reader = _Reader(frozenset(classes))
    try:
        for instruction, argument, _ in genops(content):
            reader.execute(instruction.name, argument)
    except UsageError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise UsageError(f"its pickle is damaged ({type(error).__name__}: {error})") from error
    value = reader.values[-1] if reader.values else None
    _check_size(value)
    return value


class _Mark:
    """The start of a collection on the stack."""


class _Set(list[object]):
    """A set, as the list of its elements in written order."""


class _Reader:
    """A pickle machine that only builds values: its stack, its memo and its steps by opcode."""

    def __init__(self, classes: frozenset[_Class]) -> None:
        self.values: list[object] = []
        self._memo: dict[int, object] = {}
        self._classes = classes
        self._steps: Final[dict[str, Callable[[Any], None]]] = {
            **dict.fromkeys(("PROTO", "FRAME", "STOP"), _ignore),
            **dict.fromkeys(_PUSH_ARGUMENT, self.values.append),
            **{name: self._push_constant(value) for name, value in _CONSTANTS.items()},
            **{name: self._push_new(make) for name, make in _EMPTY.items()},
            "MARK": lambda _: self.values.append(_Mark()),
            "POP": self._drop,
            "POP_MARK": self._drop_to_mark,
            "DUP": lambda _: self.values.append(self.values[-1]),
            "APPEND": lambda _: self._extend([self._pop()]),
            "APPENDS": lambda _: self._extend(self._pop_to_mark()),
            "ADDITEMS": lambda _: self._extend(self._pop_to_mark()),
            "FROZENSET": lambda _: self.values.append(_Set(self._pop_to_mark())),
            "SETITEM": lambda _: self._set_items([self._pop(), self._pop()][::-1]),
            "SETITEMS": lambda _: self._set_items(self._pop_to_mark()),
            "TUPLE": lambda _: self.values.append(self._pop_to_mark()),
            "TUPLE1": lambda _: self._push_tuple(1),
            "TUPLE2": lambda _: self._push_tuple(2),
            "TUPLE3": lambda _: self._push_tuple(3),
            "MEMOIZE": lambda _: self._memoize(len(self._memo)),
            **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), self._memoize),
            **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), self._push_memo),
            "GLOBAL": lambda named: self._push_class(*named.split(" ", 1)),
            "STACK_GLOBAL": lambda _: self._push_class(*[self._pop(), self._pop()][::-1]),
            "NEWOBJ": lambda _: self._new_object(),
            "BUILD": lambda _: self._set_fields(),
        }

    def execute(self, name: str, argument: object) -> None:
        """Execute one instruction; refuse one that would call or import something."""
        step = self._steps.get(name)
        if step is None:
            msg = f"its pickle calls something (its instruction {name}): it is not carried out"
            raise UsageError(msg)
        step(argument)

    def _push_constant(self, value: object) -> Callable[[Any], None]:
        return lambda _: self.values.append(value)

    def _push_new(self, make: Callable[[], object]) -> Callable[[Any], None]:
        return lambda _: self.values.append(make())

    def _drop(self, _: object) -> None:
        self._pop()

    def _drop_to_mark(self, _: object) -> None:
        self._pop_to_mark()

    def _pop(self) -> object:
        return self.values.pop()

    def _pop_to_mark(self) -> list[object]:
        """Pop the values above the last mark, and the mark; return the values in pushed order."""
        found: list[object] = []
        while not isinstance(value := self._pop(), _Mark):
            found.append(value)
        return found[::-1]

    def _extend(self, more: list[object]) -> None:
        self._top(list).extend(more)

    def _set_items(self, items: list[object]) -> None:
        into = self._top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str):
                msg = f"a key in its pickle is {shown(key)}, not text, and JSON has no other keys"
                raise UsageError(msg)
            into[key] = value

    def _top(self, kind: type[KindT]) -> KindT:
        found = self.values[-1]
        if not isinstance(found, kind):
            raise TypeError(f"a {kind.__name__} was expected, not {shown(found)}")
        return found

    def _push_tuple(self, length: int) -> None:
        taken = [self._pop() for _ in range(length)]
        self.values.append(taken[::-1])

    def _memoize(self, number: int) -> None:
        self._memo[number] = self.values[-1]

    def _push_memo(self, number: int) -> None:
        self.values.append(self._memo[number])

    def _push_class(self, module: object, name: object) -> None:
        """Push the name of a class, in place of the class; refuse all but the given classes."""
        if (module, name) not in self._classes:
            named = f"{module}.{name}" if isinstance(module, str) else "something without a name"
            msg = f"its pickle names {shown(named)}, which is none of the classes that are known"
            raise UsageError(msg)
        self.values.append((module, name))

    def _new_object(self) -> None:
        arguments, named = self._pop(), self._pop()
        if named not in self._classes or arguments:
            msg = "its pickle makes an object otherwise than the classes that are known are made"
            raise UsageError(msg)
        self.values.append(PickledObject(named[1]))

    def _set_fields(self) -> None:
        """Pop a state, and set the fields of the object below it from the state."""
        state, made = self._pop(), self._top(PickledObject)
        fields = state.get(_FIELDS, state) if isinstance(state, dict) else state
        if not isinstance(fields, dict):
            raise TypeError(f"the fields of a {made.class_name} are {shown(fields)}")
        made.fields.update(fields)


def _ignore(_: object) -> None:
    """Execute an instruction that is only about the pickle, and builds no value."""


_PUSH_ARGUMENT: Final = (
    *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"),
    *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"),
)
"""Instructions that push their argument onto the stack."""
_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: Final[dict[str, Callable[[], object]]] = {
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": list,
    "EMPTY_DICT": dict,
    "EMPTY_SET": _Set,
}


def _check_size(value: object) -> None:
    """Check that a value is not too large, counting repeated references, nor nested too deeply."""
    # A value that contains itself has no end, so it runs into one of the two limits.
    waiting: list[tuple[object, int]] = [(value, 0)]
    count = 0
    while waiting:
        count += 1
        each, depth = waiting.pop()
        if count > VALUES_MAX or depth > 2 * JSON_DEPTH_MAX:
            raise UsageError(
                f"its pickle holds more than {VALUES_MAX} values (VALUES_MAX), or nests them "
                f"deeper than {2 * JSON_DEPTH_MAX}"
            )
        inner = each.fields if isinstance(each, PickledObject) else each
        if isinstance(inner, dict):
            waiting.extend((one, depth + 1) for one in inner.values())
        elif isinstance(inner, list):
            waiting.extend((one, depth + 1) for one in inner)
