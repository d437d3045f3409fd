"""Small stories of talks with a memory, told to a model that knows only what it is shown."""

import re
from collections.abc import Iterator

import pytest

import recollect
from recollect import SyncRecollect
from recollect.conversation import (
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationEntityMemory,
    ConversationSummaryBufferMemory,
    ConversationSummaryMemory,
)
from recollect.ports import ModelRequest
from recollect.testing import ScriptedModel

ADA = ("users", "ada")
KNOWN = ("LangChain", "诺兰", "星际穿越", "天气", "里斯本")


def part(text: str, begin: str, end: str) -> str:
    """Return what stands between the last *begin* and the next *end*."""
    return text.rsplit(begin, 1)[1].split(end, 1)[0].strip()


def reader(request: ModelRequest) -> str:
    """Answer by rules from the words of the request alone."""
    asked = request.turns[-1].text
    if asked.endswith("Names:\n"):
        return names_in(part(asked, "Lines before:\n", "Last line:"), last_line(asked, "Names:"))
    if asked.endswith("New text:\n"):
        name = part(asked, "\nName:", "\n")
        known = part(asked, f"Known of {name}:", "\nLast line:")
        said = last_line(asked, "New text:")
        return f"{known} {said}".strip() if is_about(name, said, asked) else known
    if asked.endswith("New texts:\n"):
        lines = part(asked, "Names and what is known:\n", "Last lines:").splitlines()
        return "\n".join(f"{line} {part(asked, 'Last lines:', 'New texts:')}" for line in lines)
    before = part(asked, "Summary so far:\n", "New lines:")
    said = part(asked, "New lines:\n", "New summary:")
    new = [line.split(": ", 1)[1] for line in said.splitlines() if line.startswith("Human: ")]
    return f"{before} {' '.join(new)}".strip()


def last_line(asked: str, end: str) -> str:
    return part(asked, "Last line:\nHuman:", end)


def names_in(history: str, said: str) -> str:
    """Return the names in the last line; "it" and "他" are the last name before it."""
    named = [name for name in KNOWN if name in said]
    if not named and re.search(r"\bit\b|它|他", said):
        before = sorted((history.rfind(name), name) for name in KNOWN if name in history)
        named = [before[-1][1]] if before else []
    return ", ".join(named) or "NONE"


def is_about(name: str, said: str, asked: str) -> bool:
    history = part(asked, "Lines before:\n", "\nName:")
    return name in said or name in names_in(history, said).split(", ")


@pytest.fixture
def store() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none") as memory:
        yield memory


def test_a_word_for_a_name_is_understood_by_the_turns_before(store: SyncRecollect) -> None:
    """它 in the third line is LangChain, because the last turns are shown; without them nothing."""
    talk = [("你了解 LangChain 框架吗？", "当然啦。")]
    question = {"input": "那你能使用它来进行应用开发吗？"}
    names = {}
    for k in (0, 3):
        memory = ConversationEntityMemory(store, ADA, f"k{k}", llm=ScriptedModel(reader), k=k)
        for line, answer in talk:
            memory.save_context({"input": line}, {"output": answer})
        memory.load_memory_variables(question)
        names[k] = memory.entity_cache

    assert {0: [], 3: ["LangChain"]} == names


def test_what_was_said_of_a_small_matter_is_not_lost_among_a_great_one(
    store: SyncRecollect,
) -> None:
    """One word of the weather, then much of a journey: the weather has a text of its own."""
    memory = ConversationEntityMemory(store, ADA, "talk", llm=ScriptedModel(reader))
    for line in ["今天天气很冷。", *[f"里斯本第{number}天看什么？" for number in range(8)]]:
        memory.load_memory_variables({"input": line})
        memory.save_context({"input": line}, {"output": "好的。"})

    shown = memory.load_memory_variables({"input": "天气怎么样？"})

    assert {"天气": "今天天气很冷。"} == shown["entities"]
    assert "天气" not in shown["history"]


def test_he_who_directed_is_one_person_over_two_turns(store: SyncRecollect) -> None:
    """他 in the second turn adds to what is known of 诺兰: a question by name finds both."""
    memory = ConversationEntityMemory(store, ADA, "films", llm=ScriptedModel(reader))
    for line, answer in [
        ("诺兰导演了什么？", "《盗梦空间》，导演是诺兰。"),
        ("他还导演了《记忆碎片》。", "是的。"),
    ]:
        memory.load_memory_variables({"input": line})
        memory.save_context({"input": line}, {"output": answer})

    shown = memory.load_memory_variables({"input": "诺兰都有哪些作品？"})

    assert "记忆碎片" in shown["entities"]["诺兰"]


def test_a_window_forgets_what_a_summary_keeps(store: SyncRecollect) -> None:
    """The same talk: whole, its end, its summary, and its end after the summary of the rest."""
    model = ScriptedModel(reader)
    memories = {
        "buffer": ConversationBufferMemory(store, ADA, "a"),
        "window": ConversationBufferWindowMemory(store, ADA, "b", k=2),
        "summary": ConversationSummaryMemory(store, ADA, "c", llm=model),
        "both": ConversationSummaryBufferMemory(
            store, ADA, "d", llm=model, max_token_limit=4, count_tokens=lambda _: 1
        ),
    }
    for line in ["My dog is Rex.", "One.", "Two.", "Three."]:
        for memory in memories.values():
            memory.save_context({"input": line}, {"output": "I see."})

    shown = {name: m.load_memory_variables({})["history"] for name, m in memories.items()}

    assert {"buffer": True, "window": False, "summary": True, "both": True} == {
        name: "Rex" in text for name, text in shown.items()
    }
    assert "My dog is Rex. One. Two. Three." == shown["summary"]
    assert shown["both"].endswith("Human: Three.\nAI: I see.")


def test_calls_grow_with_the_names_of_a_turn_only_by_default(store: SyncRecollect) -> None:
    """A turn with three names: one call for the names, and three or one for what is known."""
    line = "诺兰拍《星际穿越》时，里斯本在下雨。"
    calls = []
    for options in ({}, {"one_call": True}):
        model = ScriptedModel(reader)
        memory = ConversationEntityMemory(store, ADA, f"{options}", llm=model, **options)  # type: ignore[arg-type]
        memory.load_memory_variables({"input": line})
        memory.save_context({"input": line}, {"output": "好。"})
        calls.append(len(model.requests))

    assert [1 + 3, 1 + 1] == calls


@pytest.mark.parametrize("kind", ["summary", "entities"])
def test_after_a_restart_the_talk_goes_on(tmp_path: object, kind: str) -> None:
    """Another process knows what this one was told."""
    for line in ("诺兰是导演。", "诺兰住在伦敦。"):
        with recollect.open_sync(f"{tmp_path}/memory.db", embedder="none") as store:
            model = ScriptedModel(reader)
            memory = (
                ConversationSummaryMemory(store, ADA, "talk", llm=model)
                if kind == "summary"
                else ConversationEntityMemory(store, ADA, "talk", llm=model)
            )
            memory.load_memory_variables({"input": line})
            memory.save_context({"input": line}, {"output": "好。"})
            shown = memory.load_memory_variables({"input": "诺兰？"})

    assert "诺兰是导演。 诺兰住在伦敦。" in str(shown)
