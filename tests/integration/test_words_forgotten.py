"""What was computed of users' words leaves the process with them."""

import ast
from typing import Final

import pytest

import recollect
from recollect import EraseMessages, NewMessage
from recollect.records import Scope
from recollect.stores.contract import erasure
from recollect.text.word_caches import words_kept
from tests.structure.test_names import PACKAGE

ADA: Final[Scope] = ("users", "ada")
OF_NO_WORDS: Final = {
    "stores/postgres/array_parameters.py": "types of columns",
    "server/connection_book.py": "addresses of clients",
    "stores/sqlite/index_files.py": "what one plan has looked up",
    "recall/fusion.py": "weights",
    "recall/freed_memory.py": "the C library",
    "recall/context_entries.py": "hashes of ids",
    "recall/memory_sentences.py": "days",
    "text/terms.py": "days",
    "text/field_words.py": "names of fields",
    "text/feasts.py": "years",
    "text/lunar_calendar.py": "years",
    "integrations/langgraph/home_loop.py": "a loop",
    "integrations/langgraph/saver_base.py": "a warning that was given",
    "messages/message_fields.py": "names of fields",
    "formation/types/schema.py": "schemas of types",
    "formation/grounding/injection.py": "our patterns",
    "formation/grounding/quotes.py": "single characters",
    "formation/support/vocabulary.py": "our lists of words",
    "text/word_caches.py": "the caches of words themselves",
    "wire/elements.py": "names of fields",
}


async def kept_after_erase() -> tuple[int, int]:
    """Return how much is kept of words before and after an erase of what was recalled."""
    text = "I live in Xanadu. My locker number is 7741."
    async with recollect.open("memory:", embedder="none", model="rules", worker=False) as memory:
        await memory.append(ADA, "talk", [NewMessage(role="user", text=text, id="said")])
        await memory.form(ADA)
        await memory.recall(ADA, "Where is my locker 7741?")
        await memory.context(ADA, "Where do I live?")
        before = words_kept()
        await memory.erase(ADA, EraseMessages(thread="talk", messages=["said"]))
        return before, words_kept()


async def test_an_erase_empties_the_caches_of_words() -> None:
    """Nothing that was computed of them stays in the process that erased."""
    before, after = await kept_after_erase()

    assert before > 0
    assert 0 == after


async def test_an_erase_that_empties_no_cache_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant leaves them as they are."""
    monkeypatch.setattr(erasure, "forget_words", lambda: None)

    assert (await kept_after_erase())[1] > 0


def test_no_other_cache_holds_words() -> None:
    """A module that caches by itself says here of what."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if caches_in(path.read_text("utf-8"))
    }

    assert found == OF_NO_WORDS.keys()


def caches_in(text: str) -> bool:
    """Return True if a module imports one of the caches of `functools`."""
    return any(
        isinstance(each, ast.ImportFrom)
        and each.module == "functools"
        and any(name.name in {"lru_cache", "cache"} for name in each.names)
        for each in ast.walk(ast.parse(text))
    )
