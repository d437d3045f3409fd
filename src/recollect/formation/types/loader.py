"""Memory types as they are configured: from Python, JSON, TOML or pydantic, checked as a whole."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeAlias, cast, get_args

from recollect.errors import LimitError, NotFoundError, UsageError
from recollect.formation.cron import check_schedule
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.formation.tool_names import RESERVED
from recollect.formation.types.memory_type import (
    CONFIG_KEYS,
    DESCRIPTION_CHARACTERS_MAX,
    EXPIRES_S_MAX,
    NAME,
    TYPES_MAX,
    MemoryType,
    UpdateMode,
)
from recollect.formation.types.references import path_of
from recollect.formation.types.schema import check_schema
from recollect.records import Json, Role
from recollect.stores.json_pointers import is_list, is_number, kind_of, listed, shown
from recollect.stores.validation import check_text

FILE_BYTES_MAX: Final = 4_000_000

_LISTS: Final = ("types", "memory_types")
_NEEDED: Final = ("name", "description", "update_mode", "parameters")
_MODES: Final = get_args(UpdateMode)
_ROLES: Final = get_args(Role)


class SchemaClass(Protocol):
    """A class that can say its JSON Schema, as pydantic's models do."""

    def model_json_schema(self) -> Mapping[str, Json]:
        """Return the JSON Schema of its documents."""
        ...


TypeSource: TypeAlias = Mapping[str, object] | MemoryType | SchemaClass
"""A type's configuration, a type, or a pydantic model."""


def load_types(source: str | Path | TypeSource | Sequence[TypeSource]) -> tuple[MemoryType, ...]:
    """
    Return the validated memory types described by *source*, in order.

    It is a list of types, or a single one. A text is read as JSON, a path as a ``.json`` or
    ``.toml`` file. Both hold a list of types, or an object whose ``types`` (or ``memory_types``)
    is such a list or a table of types by name.
    Each type is an object with ``name``, ``description``, ``update_mode`` and ``parameters``, and,
    if it needs them, the other fields of `MemoryType`.

    A pydantic model describes a type by its name, docstring and schema. It is a collection
    (``insert``) unless the class sets ``update_mode: ClassVar = "patch"``; other fields can be set
    the same way. A model may also be the ``parameters`` of an object.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: A type is not as it must be; the error names the place, as in
            ``types[2].parameters.properties.age.minimum``.
        LimitError: There are more than `TYPES_MAX` types, or one is too large.
    """
    entries = _entries(source)
    if not entries:
        msg = "types: the list is empty: describe at least one memory type"
        raise UsageError(msg)
    if len(entries) > TYPES_MAX:
        raise LimitError("memory types", len(entries), TYPES_MAX, "TYPES_MAX")
    found: dict[str, MemoryType] = {}
    for path, entry in entries:
        type_ = _type_of(entry, path)
        if type_.name in found:
            msg = f"{path}.name: there is a memory type {type_.name!r} already: give it another"
            raise UsageError(msg)
        found[type_.name] = type_
    return tuple(found.values())


def _entries(source: object) -> list[tuple[str, object]]:
    """Return each type that *source* describes, unchecked, after its path."""
    if _is_single(source):
        return [("types", source)]
    content = source
    if isinstance(source, str):
        content = _read_text(source, "types")
    elif isinstance(source, Path):
        content = _read_file(source)
    name = "types"
    if isinstance(content, Mapping) and content is not source:
        given = [each for each in _LISTS if each in content]
        if len(given) != 1:
            has = " and ".join(given) or "neither"
            msg = f"memory types stand under 'types' or 'memory_types'; this has {has}"
            raise UsageError(msg)
        name, content = given[0], content[given[0]]
        if isinstance(content, Mapping):
            return [_named_entry(name, key, entry) for key, entry in content.items()]
    if not is_list(content):
        msg = f"{name}: must be a list of memory types, not {kind_of(content)}"
        raise UsageError(msg)
    return [(f"{name}[{at}]", entry) for at, entry in enumerate(content)]


def _is_single(source: object) -> bool:
    """Return True if *source* describes one type, outside a list."""
    is_config = isinstance(source, Mapping) and "name" in source
    return is_config or isinstance(source, MemoryType) or _is_schema_class(source)


def _named_entry(table: str, name: str, entry: object) -> tuple[str, object]:
    path = path_of(table, (name,))
    if isinstance(entry, Mapping):
        if entry.get("name", name) != name:
            msg = f"{path}.name: is {shown(entry['name'])}, but the table is called {shown(name)}"
            raise UsageError(msg)
        entry = {"name": name, **entry}
    return path, entry


def _read_text(text: str, what: str) -> Json:
    try:
        return read_json(text)
    except NotJsonError as error:
        msg = f"{what}: {error} (a text is read as JSON; give a file as a Path)"
        raise UsageError(msg) from None


def read_text_file(path: Path) -> str:
    """
    Return the text of a file in UTF-8.

    Raises:
        LimitError: It is larger than ``FILE_BYTES_MAX``.
        NotFoundError: There is no such file.
        UsageError: It cannot be read, or is not UTF-8.
    """
    try:
        size = path.stat().st_size
        if size > FILE_BYTES_MAX:
            raise LimitError(f"bytes of {str(path)!r}", size, FILE_BYTES_MAX, "FILE_BYTES_MAX")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        msg = f"there is no file {str(path)!r}"
        raise NotFoundError(msg) from None
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{str(path)!r} cannot be read: {error}"
        raise UsageError(msg) from error


def _read_file(path: Path) -> object:
    if path.suffix not in (".json", ".toml"):
        msg = f"{str(path)!r}: memory types are read from a .json or a .toml file"
        raise UsageError(msg)
    text = read_text_file(path)
    if path.suffix == ".json":
        return _read_text(text, repr(str(path)))
    try:
        return tomllib.loads(text)
    except ValueError as error:
        msg = f"{str(path)!r} is no TOML: {error}"
        raise UsageError(msg) from None
    except RecursionError:
        msg = f"{str(path)!r} is nested too deeply to be read: make it flatter"
        raise UsageError(msg) from None


def _type_of(entry: object, path: str) -> MemoryType:
    if isinstance(entry, MemoryType):
        entry = entry.as_config()
    elif _is_schema_class(entry):
        entry = _from_class(entry, {}, path)
    if not isinstance(entry, Mapping):
        msg = f"{path}: must be an object with {listed(_NEEDED)}, not {kind_of(entry)}"
        raise UsageError(msg)
    if _is_schema_class(given := entry.get("parameters")):
        entry = _from_class(given, entry, path)
    for key in entry:
        if key not in CONFIG_KEYS:
            msg = f"{path}: unknown key {shown(key)}; the keys are {', '.join(CONFIG_KEYS)}"
            raise UsageError(msg)
    for key in _NEEDED:
        if key not in entry:
            msg = f"{path}.{key}: is missing; a type needs {listed(_NEEDED)}"
            raise UsageError(msg)
    return _Entry(entry, path).as_type()


def _is_schema_class(entry: object) -> bool:
    return isinstance(entry, type) and callable(getattr(entry, "model_json_schema", None))


def _from_class(entry: object, given: Mapping[str, object], path: str) -> Mapping[str, object]:
    """Return the configuration described by a class; *given* takes precedence."""
    try:
        schema = dict(cast("SchemaClass", entry).model_json_schema())
    except (RuntimeError, TypeError, NameError, ValueError) as error:  # as pydantic refuses a class
        msg = f"{path}: {getattr(entry, '__name__', entry)} has no JSON Schema: {error}"
        raise UsageError(msg) from error
    about = schema.pop("description", None) or vars(entry).get("__doc__")
    if about is None and "description" not in given:
        msg = f"{path}.description: is missing: give {getattr(entry, '__name__', '')} a docstring"
        raise UsageError(msg)
    properties = schema.get("properties")
    fields = properties if isinstance(properties, Mapping) else {}
    said = {
        key: getattr(entry, key)
        for key in CONFIG_KEYS
        if key not in _NEEDED[:2] and key != "parameters" and key not in fields
        if hasattr(entry, key)
    }
    named = {"name": getattr(entry, "__name__", ""), "description": about, "update_mode": "insert"}
    return {**named, **said, **given, "parameters": schema}


class _Entry:
    """The configuration of one type, and the path that its errors begin with."""

    def __init__(self, entry: Mapping[str, object], path: str) -> None:
        self.entry = entry
        self.path = path

    def as_type(self) -> MemoryType:
        name = self.entry["name"]
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise self._refusal(
                "name",
                f"{shown(name)} cannot name a memory type: 1 to 64 letters, digits, '_' and '-' "
                "(ASCII), the first a letter or '_'",
            )
        if name in RESERVED:
            raise self._refusal("name", f"{name!r} is the name of a tool of ours: use another")
        mode = self._one_of("update_mode", _MODES)
        parameters = check_schema(self.entry["parameters"], f"{self.path}.parameters")
        return MemoryType(
            name=name,
            description=self._text("description"),
            update_mode="patch" if mode == "patch" else "insert",
            parameters=parameters,
            single_valued=self._single_valued(parameters),
            several=self._several(parameters),
            expires_after_s=self._expiry(),
            instructions=self._text("instructions"),
            roles=self._roles(),
            section_bytes_max=self._section(),
            per_speaker=self._per_speaker(),
            schedule=self._schedule(),
        )

    def _refusal(self, key: str, reason: str) -> UsageError:
        return UsageError(f"{self.path}.{key}: {reason}")

    def _one_of(self, key: str, allowed: Sequence[str]) -> str:
        given = self.entry[key]
        if not isinstance(given, str) or given not in allowed:
            raise self._refusal(key, f"{shown(given)} is unknown: use {listed(allowed)}")
        return given

    def _text(self, key: str) -> str:
        given = self.entry.get(key, "")
        is_blank = key in _NEEDED and isinstance(given, str) and not given.strip()
        if not isinstance(given, str) or is_blank:
            raise self._refusal(key, f"must be text for the model, not {shown(given)}")
        if len(given) > DESCRIPTION_CHARACTERS_MAX:
            what = f"characters of {self.path}.{key}"
            name = "DESCRIPTION_CHARACTERS_MAX"
            raise LimitError(what, len(given), DESCRIPTION_CHARACTERS_MAX, name)
        return check_text(given, f"{self.path}.{key}")

    def _names(self, key: str) -> tuple[str, ...]:
        given = self.entry[key]
        if not is_list(given) or not given or not all(isinstance(each, str) for each in given):
            raise self._refusal(key, f"must be a list of names, not {shown(given)}")
        names = tuple(str(each) for each in given)
        if len(set(names)) < len(names):
            raise self._refusal(key, f"names one twice: {listed(names)}")
        return names

    def _single_valued(self, parameters: Mapping[str, Json]) -> tuple[str, ...]:
        key = "single_valued"
        if self.entry.get(key) in (None, (), []):
            return ()
        if self.entry["update_mode"] == "patch":
            raise self._refusal(key, "is for collections; a document has one value in each field")
        fields = _fields_of(parameters)
        for name in self._names(key):
            if name not in fields:
                reason = f"names {shown(name)}; the properties are {listed(fields)}"
                raise self._refusal(key, reason)
        return self._names(key)

    def _several(self, parameters: Mapping[str, Json]) -> str | None:
        given = self.entry.get("several")
        if given is None:
            return None
        fields = _fields_of(parameters)
        form = fields.get(given) if isinstance(given, str) else None
        if not isinstance(form, Mapping) or form.get("type") != "boolean":
            reason = f"must name a property of type boolean, not {shown(given)}"
            raise self._refusal("several", reason)
        if not self._single_valued(parameters):
            raise self._refusal("several", "has no effect without 'single_valued': leave it out")
        return str(given)

    def _expiry(self) -> float | None:
        given = self.entry.get("expires_after_s")
        if given is None:
            return None
        if not is_number(given) or not 0 < given <= EXPIRES_S_MAX:
            reason = (
                f"must be seconds, more than 0 and at most {EXPIRES_S_MAX} (EXPIRES_S_MAX), "
                f"not {shown(given)}"
            )
            raise self._refusal("expires_after_s", reason)
        return float(given)

    def _roles(self) -> tuple[Role, ...]:
        if "roles" not in self.entry:
            return ("user",)
        names = self._names("roles")
        for name in names:
            if name not in _ROLES:
                raise self._refusal("roles", f"{shown(name)} is unknown: use {listed(_ROLES)}")
        return tuple(role for role in _ROLES if role in names)

    def _schedule(self) -> str | None:
        given = self.entry.get("schedule")
        if given is None:
            return None
        if not isinstance(given, str):
            raise self._refusal("schedule", f"must be a cron line, not {shown(given)}")
        try:
            return check_schedule(given)
        except UsageError as error:
            raise self._refusal("schedule", str(error)) from error

    def _section(self) -> int | None:
        given = self.entry.get("section_bytes_max")
        if given is None:
            return None
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            reason = f"must be a number of bytes, at least 1, not {shown(given)}"
            raise self._refusal("section_bytes_max", reason)
        if self.entry["update_mode"] != "patch":
            raise self._refusal("section_bytes_max", "is for documents: update_mode 'patch'")
        return given

    def _per_speaker(self) -> bool:
        given = self.entry.get("per_speaker", True)
        if not isinstance(given, bool):
            raise self._refusal("per_speaker", f"must be true or false, not {shown(given)}")
        if not given and self.entry["update_mode"] != "patch":
            raise self._refusal("per_speaker", "is for documents: update_mode 'patch'")
        return given


def _fields_of(parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    properties = parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}
