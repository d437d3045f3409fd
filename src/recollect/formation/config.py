"""Formation settings: types, prompts, waits and limits, for all, an assistant or a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast, overload

from recollect.errors import UsageError
from recollect.formation.cron import check_schedule
from recollect.formation.prompt_texts import LANGUAGES, FormationPrompts, PromptLanguage
from recollect.formation.types import (
    BUILTIN_TYPES,
    DEFAULT_TYPES,
    MemoryType,
    TypeSource,
    load_types,
)
from recollect.providers.object_names import is_object_name
from recollect.records import Json, JsonObject, Scope
from recollect.stores.json_pointers import is_number, kind_of
from recollect.stores.plans.due_times import Debounce
from recollect.text.time_zones import read_zone

DEFAULT_MODEL: Final = "anthropic/claude-haiku-4-5"
"""The model that ``model = "default"`` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationLimits:
    """
    Limits on one formation's input, calls and cost; daily limits are per scope, in UTC days.

    *existing_memories* and *existing_tokens* bound the known entries that the model is shown, by
    their number and by the tokens of their texts; documents are always shown.
    Beyond a daily limit formation waits for the next day; nothing is lost.

    >>> FormationLimits(calls_a_day=500).attempts
    6
    """

    window_messages: int = 40
    window_tokens: int = 8_000
    context_messages: int = 4
    existing_memories: int = 15
    existing_tokens: int = 1_000
    repairs: int = 1
    tokens_a_formation: int = 60_000
    calls_a_day: int | None = None
    tokens_a_day: int | None = None
    attempts: int = 6
    calls_a_consolidation: int = 20
    tokens_a_consolidation: int = 40_000

    def __post_init__(self) -> None:
        for each in fields(self):
            given = getattr(self, each.name)
            least = 0 if each.name in {"context_messages", "existing_memories", "repairs"} else 1
            is_count = isinstance(given, int) and not isinstance(given, bool) and given >= least
            if given is not None and not is_count:
                msg = f"limits.{each.name} is {given!r}; it is a whole number of at least {least}"
                raise UsageError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrices:
    """
    A model's prices for a million tokens; receipts then state the cost.

    >>> FormationSettings(prices=ModelPrices(input=0.25, output=2.0)).prices.currency
    'USD'
    """

    input: float = 0.0
    output: float = 0.0
    currency: str = "USD"


if TYPE_CHECKING:

    class _GivenTypes:
        """The field `FormationSettings.types`: it takes what describes types, and returns types."""

        @overload
        def __get__(self, instance: None, owner: type) -> _GivenTypes: ...
        @overload
        def __get__(self, instance: object, owner: type) -> tuple[MemoryType, ...]: ...
        def __get__(self, instance: object, owner: type) -> object: ...
        def __set__(self, instance: object, types: TypeSource | Sequence[TypeSource]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationSettings:
    """
    How to form memories.

    *types* are the memory types, as `load_types` takes them: pydantic classes, dictionaries with a
    JSON Schema, or `MemoryType`s. They replace the default ones.
    *model* is named as ``provider/model``; ``None`` means the worker's default. *language* is that
    of the prompts: ``"en"``, ``"zh"`` or ``"zh-hant"``; ``None`` means that of the messages.
    *schedule* is a cron line at which pending messages are formed, in addition to *debounce*;
    *consolidate* is the cron line for consolidating every scope. *time_zone* is the speakers':
    "yesterday" and the days in a prompt are counted in it, and the cron lines are read in it, those
    of the types too; ``"Asia/Taipei"``, ``"+08:00"``. *second_reading* has a model read what is to
    be kept once more, beside the messages, and holds back what it does not call right: ``True`` for
    the model that forms, or the name of another. It is one more call a formation.

    >>> settings = FormationSettings(model="rules", schedule="0 3 * * *")
    >>> [each.name for each in settings.types]
    ['User', 'Note']

    Raises:
        UsageError: A type or a cron line is malformed, the language has no prompts, or there is no
            such time zone.
    """

    model: str | None = None
    if TYPE_CHECKING:  # a dataclass has no other way to say that it takes more than it returns
        types: _GivenTypes = ...  # type: ignore[assignment]
    else:
        types: tuple[MemoryType, ...] = DEFAULT_TYPES
    prompts: FormationPrompts = field(default_factory=FormationPrompts)
    language: PromptLanguage | None = None
    debounce: Debounce = field(default_factory=Debounce)
    limits: FormationLimits = field(default_factory=FormationLimits)
    schedule: str | None = None
    consolidate: str | None = None
    prices: ModelPrices | None = None
    time_zone: str = "UTC"
    second_reading: bool | str = False

    @property
    def calls_needed(self) -> int:
        """The model's calls in a formation without repairs."""
        return 2 if self.second_reading else 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", _loaded(self.types))
        read_zone(self.time_zone)
        if self.language is not None and self.language not in LANGUAGES:
            msg = (
                f"the prompts have no language {self.language!r}; they have {', '.join(LANGUAGES)}"
            )
            raise UsageError(msg)
        for line in (self.schedule, self.consolidate):
            if line is not None:
                check_schedule(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistants:
    """
    The configuration of all assistants: *default*, and by name what differs from it.

    *scopes* names the assistant of a scope and of all below it, unless one of these has another.

    >>> night = FormationSettings(language="zh")
    >>> chosen = Assistants(named={"night": night}, scopes={("acme", "archive"): "night"})
    >>> chosen.of({}, ("acme", "archive", "2024")).language, chosen.of({}, ("acme",)).language
    ('zh', None)

    Raises:
        UsageError: A scope's assistant is unknown, or one is no `FormationSettings`.
    """

    default: FormationSettings = field(default_factory=FormationSettings)
    named: Mapping[str, FormationSettings] = field(default_factory=lambda: MappingProxyType({}))
    scopes: Mapping[Scope, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for assistant in (self.default, *self.named.values()):
            if not isinstance(assistant, FormationSettings):
                msg = f"an assistant is FormationSettings(…), not {kind_of(assistant)}"
                raise UsageError(msg)
        for name in self.scopes.values():
            self._settings_of(name)

    def of(self, settings: JsonObject, scope: Scope = ()) -> FormationSettings:
        """
        Return the formation settings of a thread of *scope* with *settings*.

        The thread's own settings override those of its assistant; without an assistant it uses that
        of its scope.

        Raises:
            UsageError: The assistant is unknown, or a setting is invalid.
        """
        for name in ("model", "second_reading"):
            model = settings.get(name)
            if isinstance(model, str) and is_object_name(model):
                # They came with a request: importing the named objects would run their code.
                msg = f"{name} {model!r}: only a configuration may name an object of a module"
                raise UsageError(msg)
        chosen = self._settings_of(settings.get("assistant", self.assistant_of(scope)))
        own = {key: value for key, value in settings.items() if key != "assistant"}
        return with_settings(chosen, own)

    def assistant_of(self, scope: Scope) -> str | None:
        """Return the assistant that *scopes* names for *scope*, ``None`` for the default one."""
        above = (scope[:length] for length in range(len(scope), 0, -1))
        return next((self.scopes[each] for each in above if each in self.scopes), None)

    def all_in(self, scope: Scope) -> list[FormationSettings]:
        """
        Return all settings that threads of *scope* may be formed with by name.

        Those of its assistant; if it has none, the default ones, and those of every
        assistant that is not some scope's.
        """
        own = self.assistant_of(scope)
        if own is not None:
            return [self.named[own]]
        bound = frozenset(self.scopes.values())
        return [self.default, *(each for name, each in self.named.items() if name not in bound)]

    def _settings_of(self, name: Json) -> FormationSettings:
        if name is None:
            return self.default
        if not isinstance(name, str) or name not in self.named:
            known = ", ".join(sorted(self.named)) or "none"
            msg = f"there is no assistant {name!r}; there are: {known}"
            raise UsageError(msg)
        return self.named[name]

    def all_types(self) -> tuple[MemoryType, ...]:
        """Return every memory type that is configured or built in, of each name the first."""
        settings = (self.default, *self.named.values())
        types = (*(type_ for each in settings for type_ in each.types), *BUILTIN_TYPES)
        return tuple({each.name: each for each in reversed(types)}.values())

    def type_named(self, name: str) -> MemoryType | None:
        """Return the memory type with this name: configured, or built in; ``None`` if neither."""
        return next((each for each in self.all_types() if each.name == name), None)


def assistants_of(given: Assistants | FormationSettings | None) -> Assistants:
    """
    Return *given* as an `Assistants` configuration.

    Raises:
        UsageError: It is neither, nor settings.
    """
    if isinstance(given, FormationSettings):
        return Assistants(default=given)
    if given is None or isinstance(given, Assistants):
        return given or Assistants()
    msg = (
        f"formation is FormationSettings or Assistants, not {kind_of(given)}; memory types are "
        "given as formation=FormationSettings(types=[…])"
    )
    raise UsageError(msg)


def _loaded(given: object) -> tuple[MemoryType, ...]:
    """Return the memory types as they were given, or load what describes them."""
    if isinstance(given, list | tuple) and all(isinstance(each, MemoryType) for each in given):
        return tuple(given)
    return load_types(cast("Sequence[TypeSource]", given))


def with_settings(formation: FormationSettings, settings: JsonObject) -> FormationSettings:
    """
    Return *formation* with the *settings* of a request or of a configuration file.

    They are ``model``, ``types`` (or ``memory_types``), ``prompts``, ``language``, ``limits``,
    ``after_seconds``, ``debounce``, ``schedule``, ``consolidate``, ``time_zone`` and
    ``second_reading``, each as JSON.

    Raises:
        UsageError: There is no such setting, or its value is not allowed; it says which.
    """
    changed = formation
    for name, value in settings.items():
        changed = _with_setting(changed, name, value)
    return changed


def _with_setting(formation: FormationSettings, name: str, value: Json) -> FormationSettings:
    if name in {"model", "language", "schedule", "consolidate", "time_zone"}:
        return _with_text(formation, name, value)
    if name in {"types", "memory_types"}:
        if not isinstance(value, Sequence) or isinstance(value, str):
            msg = f"{name} is a list of memory types, not {value!r}"
            raise UsageError(msg)
        return replace(formation, types=load_types(cast("Sequence[JsonObject]", value)))
    if name == "after_seconds":
        debounce = _fields(formation.debounce, {"quiet_s": value}, "after_seconds")
        return replace(formation, debounce=debounce)
    if name in {"prompts", "limits", "debounce"}:
        part = _fields(getattr(formation, name), value, name)
        return replace(formation, **{name: part})
    if name == "second_reading":
        if not isinstance(value, bool | str):
            msg = f"second_reading is true, false or the name of a model, not {value!r}"
            raise UsageError(msg)
        return replace(formation, second_reading=value)
    if name == "prices":
        return replace(formation, prices=_fields(formation.prices or ModelPrices(), value, name))
    msg = (
        f"there is no setting {name!r}; there are: assistant, model, types, prompts, language, "
        "limits, after_seconds, debounce, schedule, consolidate, prices, time_zone, second_reading"
    )
    raise UsageError(msg)


def _with_text(formation: FormationSettings, name: str, value: Json) -> FormationSettings:
    if value is not None and not isinstance(value, str):
        msg = f"{name} is text, not {value!r}"
        raise UsageError(msg)
    if name == "model":
        return replace(formation, model=value)
    if name == "language":
        return replace(formation, language=cast("PromptLanguage | None", value))
    if name == "schedule":
        return replace(formation, schedule=value)
    if name == "time_zone":
        return replace(formation, time_zone="UTC" if value is None else value)
    return replace(formation, consolidate=value)


PartT = TypeVar("PartT", FormationPrompts, FormationLimits, Debounce, ModelPrices)


def _fields(part: PartT, given: Json, what: str) -> PartT:
    if not isinstance(given, Mapping):
        msg = f"{what} is an object, not {given!r}"
        raise UsageError(msg)
    known = [each.name for each in fields(part)]
    unknown = sorted(given.keys() - set(known))
    if unknown:
        msg = f"{what} has no {unknown[0]!r}; it has: {', '.join(known)}"
        raise UsageError(msg)
    for name, value in given.items():
        if not _has_kind(part, getattr(type(part)(), name), value):
            msg = f"{what}.{name} cannot be {value!r}"
            raise UsageError(msg)
    return replace(part, **given)  # type: ignore[arg-type]


def _has_kind(part: object, example: object, value: Json) -> bool:
    if isinstance(part, FormationPrompts):
        return isinstance(value, str) or (example is None and value is None)
    if isinstance(example, str):
        return isinstance(value, str)
    return is_number(value) or (example is None and value is None)
