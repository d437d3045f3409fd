"""CrewAI's memory itself over our storage backend, and a crew with a provider on loopback."""

import os
import re
import runpy
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crewai import LLM, Agent, Crew, Task
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

import recollect
from recollect import PutMemory
from recollect.integrations.crewai import RecollectCrewMemory, RecollectStorage
from recollect.sync.facade import SyncRecollect
from recollect.testing.hashed_embedder import HashedEmbedder
from tests.harness.model_provider import Provider, answers, completion, provider_on_loopback

ADA = ("ada",)
EMBEDDER = HashedEmbedder()
PAST = datetime(2020, 1, 1, tzinfo=UTC)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "agent_frameworks.md"


class Always(list[Any]):
    """As many answers as are asked for."""

    def pop(self, _: Any = 0) -> Any:
        return answers(completion({"content": "Thought: I know.\nFinal Answer: His name is Tom."}))


def opened(url: str) -> SyncRecollect:
    return recollect.open_sync(url, embedder=EMBEDDER, worker=False)


def crew_memory(memory: SyncRecollect, **fields: Any) -> Memory:
    return RecollectCrewMemory(memory, ADA, **fields)


def keep(held: Memory, text: str, **fields: Any) -> MemoryRecord:
    """Remember a text without asking a model."""
    given = {"scope": "/", "categories": ["pets"], "importance": 0.5, **fields}
    kept = held.remember(text, **given)
    assert kept is not None
    return kept


def refusal(call: Any, *args: Any, **fields: Any) -> str:
    """Return what a call was refused with."""
    try:
        call(*args, **fields)
    except ValueError as error:
        return str(error)
    raise AssertionError(fields)


def scenario_a_memory_is_recalled_after_a_restart() -> None:
    """By CrewAI, and by everything else that reads the user's memory."""
    with TemporaryDirectory() as folder:
        with opened(f"{folder}/store.db") as memory:
            kept = keep(crew_memory(memory), "My cat is called Tom.", metadata={"a": [1]})
        with opened(f"{folder}/store.db") as memory:
            (found,) = crew_memory(memory).recall("my cat", depth="shallow")
            told = str(memory.context(ADA, "What is my cat called?"))
            (file,) = memory.memories(ADA).rows

    assert found.record.model_dump() == {
        **kept.model_dump(),
        "last_accessed": found.record.last_accessed,
    }, (found.record, kept)
    assert "My cat is called Tom." in told, told
    assert "last_accessed" not in told, told
    assert (file.type, file.key, file.trust) == ("CrewRecord", kept.id, "agent")
    assert [each.source for each in file.evidence[""]] == ["crewai"]


def scenario_a_crew_runs_with_it() -> None:
    """What was remembered is in what its model is sent."""
    with provider_on_loopback() as provider, opened("memory:") as memory:
        provider.acts = Always()
        model = LLM(model="openai/gpt-4o-mini", base_url=f"{provider.url}/v1", api_key="none")
        held = crew_memory(memory, llm=model)
        keep(held, "My cat is called Tom.")
        agent = Agent(role="Helper", goal="Help.", backstory="Kind.", llm=model)
        task = Task(description="What is my cat called?", expected_output="A name.", agent=agent)
        result = Crew(agents=[agent], tasks=[task], memory=held).kickoff()
        held.close()

        assert "Tom" in str(result), result
        assert "My cat is called Tom." in sent(provider)


def sent(provider: Provider) -> str:
    return str([body["messages"] for _, _, body in provider.seen if "messages" in body])


def record(text: str, scope: str = "/", **fields: Any) -> MemoryRecord:
    return MemoryRecord(content=text, scope=scope, **fields)


def scenario_what_other_frameworks_were_told_is_recalled() -> None:
    """By shallow and deep recall, at any path; marked, and not counted among CrewAI's records."""
    with opened("memory:") as memory:
        memory.append(ADA, "adk", ["My cat is called Tom.", "It rains."])
        memory.append(ADA, "adk", [recollect.NewMessage(role="tool", text="My cat is called Tim.")])
        memory.put(ADA, "Note", "dog", {"content": "My dog is called Rex."})
        memory.put(ADA, "Note", "old", {"content": "My cat was called Sam."}, valid_until=PAST)
        memory.remember(ADA, "My cat is called Zoe.", trust="external")
        held = crew_memory(memory)
        keep(held, "My owl is called Uhu.", scope="/pets/owls")
        for path in (None, "/", "/pets", "/none"):
            for depth in ("shallow", "deep"):
                found = held.recall("my cat called", scope=path, depth=depth)
                best = found[0].record
                texts = [each.record.content for each in found]
                assert best.content == "My cat is called Tom.", (path, depth, texts)
                assert best.source == "recollect", best
                assert best.metadata == {"said by": "user", "thread": "adk"}, best
                assert "My dog is called Rex." in texts, texts
                assert not [each for each in texts if each[-4:] in {"Tim.", "Sam.", "Zoe."}], texts
                assert (path == "/none") == ("My owl is called Uhu." not in texts), texts
        alone = RecollectCrewMemory(memory, ADA, others=False).recall("my cat", depth="shallow")
        by_category = held.recall("my cat", categories=["pets"], depth="shallow")
        assert len(alone) == len(by_category) == len(held.list_records()) == 1


class EnglishOnly:
    """An embedder that has no vector for other scripts, as MiniLM."""

    identity = "english-only"
    dimensions = EMBEDDER.dimensions

    def embed(self, texts: Sequence[str]) -> Sequence[Any]:
        vectors = EMBEDDER.embed(texts)
        return [v if t.isascii() else None for t, v in zip(texts, vectors, strict=True)]


def scenario_what_the_embedder_does_not_read_is_found_by_its_words() -> None:
    with recollect.open_sync("memory:", embedder=EnglishOnly(), worker=False) as memory:
        held = crew_memory(memory)
        for text in ("请记住我住在台北", "我对坚果过敏 (nuts)", "Моя кошка живёт в Осло"):
            keep(held, text, scope="/me")
        memory.append(ADA, "adk", ["我的猫叫小白", "I live in Oslo."])
        for query, best in (
            ("我住在哪里？", "请记住我住在台北"),
            ("Где живёт моя кошка?", "Моя кошка живёт в Осло"),
            ("我的猫叫什么？", "我的猫叫小白"),
            ("allergic to nuts", "我对坚果过敏 (nuts)"),
        ):
            for depth in ("shallow", "deep"):
                found = [each.record.content for each in held.recall(query, depth=depth)]
                assert best in found[:2], (query, depth, found)
        alone = RecollectCrewMemory(memory, ADA, others=False).recall("猫", depth="shallow")
        assert not [each for each in alone if each.record.source == "recollect"], alone
        assert held.recall("我住在哪里", scope="/none", categories=["no"], depth="shallow") == []
        more = ["我喜欢茶", "我喜欢咖啡"]
        held.remember_many(more, scope="/me", categories=["me"], importance=0.5)
        held.drain_writes()
        kept = {each.content for each in held.list_records()}
        assert {*more} <= kept, kept


def scenario_an_unknown_option_is_refused() -> None:
    with opened("memory:") as memory:
        assert "llmm" in refusal(RecollectCrewMemory, memory, ADA, llmm="x")
        assert "others" in refusal(RecollectCrewMemory, memory, ADA, others="no")


def scenario_questions_asked_before_take_no_place() -> None:
    """A crew is told five entries: the same question, five times, would be all of them."""
    with opened("memory:") as memory:
        memory.append(ADA, "adk", ["I live in Oslo."])
        for number in range(6):
            memory.append(ADA, f"adk{number}", ["Where do I live?"])

        found = crew_memory(memory).recall("Where do I live?", depth="shallow", limit=5)

        texts = [each.record.content for each in found]
        assert texts == ["I live in Oslo."], texts


def scenario_what_other_frameworks_stored_is_not_changed() -> None:
    """An update is a new record, and nothing is forgotten that CrewAI did not store."""
    with opened("memory:") as memory:
        memory.append(ADA, "adk", "My cat is called Tom.")
        held = crew_memory(memory)
        other = held.recall("my cat", depth="shallow")[0].record
        assert "not found" in refusal(held.update, other.id, content="Tim")
        assert held.forget(record_ids=[other.id]) == 0
        RecollectStorage(memory, ADA).update(other.model_copy(update={"content": "Tim"}))
        (own,) = held.list_records()
        said = [each.text for each in memory.last_messages(ADA, "adk", limit=9)]

    assert (own.content, own.metadata, own.source) == ("Tim", {}, None), own
    assert said == ["My cat is called Tom."], said


def scenario_what_is_saved_in_the_background_is_not_lost() -> None:
    """Leaving the memory waits for it, without close()."""
    fields: Any = {"scope": "/", "categories": ["pets"], "importance": 0.5}
    with TemporaryDirectory() as folder:
        with opened(f"{folder}/store.db") as memory:
            held = crew_memory(memory)
            held.remember_many(["My cat is called Tom.", "My dog is called Rex."], **fields)
        with opened(f"{folder}/store.db") as memory:
            texts = {each.content for each in crew_memory(memory).list_records()}

    assert texts == {"My cat is called Tom.", "My dog is called Rex."}, texts


def scenario_a_save_asks_no_model_about_the_words_of_others() -> None:
    """CrewAI merges a record with similar ones of its own alone; nothing else is to be merged."""
    with provider_on_loopback() as provider, opened("memory:") as memory:
        provider.acts = Always()
        model = LLM(model="openai/gpt-4o-mini", base_url=f"{provider.url}/v1", api_key="none")
        memory.append(ADA, "adk", ["My cat is called Tom.", "It rains today."])
        held = crew_memory(memory, llm=model)
        keep(held, "My cat is called Tom.")
        held.remember_many(["It rains today."], scope="/", categories=["weather"], importance=0.5)
        texts = [each.record.content for each in held.recall("my cat", depth="shallow")]
        asked = len(provider.seen)
        keep(held, "My cat is called Tom.")
        again = len(provider.seen)

    assert texts.count("My cat is called Tom.") == 2, texts
    assert (asked, again) == (0, 1), (asked, again)


def scenario_it_is_a_backend_in_every_way() -> None:
    """Paths, categories, metadata, times; the newest first; each alone and together."""
    day = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    records = [
        record("one", "/a", categories=["x"], created_at=day, metadata={"n": 1}),
        record("two", "/a/b", categories=["x", "y"], created_at=day + timedelta(days=1)),
        record("three", "/ab", created_at=day + timedelta(days=2), source="me"),
    ]
    first, second, third = (each.id for each in records)
    with opened("memory:") as memory:
        storage = RecollectStorage(memory, ADA)
        assert isinstance(storage, StorageBackend)
        storage.save(records)
        assert [each.id for each in storage.list_records()] == [third, second, first]
        assert [each.id for each in storage.list_records("/a", limit=1, offset=1)] == [first]
        assert (storage.count(), storage.count("/a"), storage.count("/a/")) == (3, 2, 2)
        assert storage.list_scopes() == ["/a", "/ab"]
        assert storage.list_scopes("/a") == ["/a/b"]
        assert storage.list_categories() == {"x": 2, "y": 1}
        info = storage.get_scope_info("/a")
        assert (info.record_count, info.child_scopes) == (2, ["/a/b"])
        assert (info.oldest_record, info.categories) == (day, ["x", "y"])
        assert storage.get_scope_info("/none").record_count == 0
        (vector,) = storage.embed(["two"])
        assert storage.search(vector, limit=1)[0][0].id == second
        assert [each.id for each, _ in storage.search(vector, metadata_filter={"n": 1})] == [first]
        assert [each.id for each, _ in storage.search(vector, categories=["y"])] == [second]
        assert storage.search(vector, min_score=1.1) == []
        storage.update(record("two!", "/a/b", id=second))
        assert storage.get_record(second).content == "two!"
        assert len(memory.history(ADA, "CrewRecord", second)) == 2
        assert storage.get_record("none") is None
        assert storage.delete(older_than=day + timedelta(hours=1)) == 1
        assert storage.delete(record_ids=[third], scope_prefix="/a") == 0
        assert storage.delete(record_ids=[third]) == 1
        memory.remember(ADA, "stays")
        storage.reset()
        assert [each.type for each in memory.memories(ADA).rows] == ["Note"]


def scenario_a_person_corrects_and_erases_a_record() -> None:
    with opened("memory:") as memory:
        storage = RecollectStorage(memory, ADA)
        storage.save([record("Tim", id="one"), record("Tam", id="two")])
        memory.put(ADA, "CrewRecord", "one", {"content": "Tom", "scope": "/pets"})
        memory.erase(ADA, recollect.EraseMemory(type="CrewRecord", key="two"))
        (kept,) = storage.list_records()
        wrong = PutMemory(type="CrewRecord", key="one", value={"content": "Tem"}, state="rejected")
        memory.apply(ADA, [wrong])
        assert storage.get_record("one") is None

    assert (kept.content, kept.scope, kept.categories) == ("Tom", "/pets", [])


def scenario_what_cannot_be_kept_leaves_nothing() -> None:
    """One error that says why; and a vector of another embedder says of which length it is."""
    with opened("memory:") as memory:
        storage = RecollectStorage(memory, ADA)
        good = record("a")
        assert "scope of its owner" in refusal(storage.save, [good, record("b", private=True)])
        odd = record("b", metadata={"odd": object()})
        assert "not JSON" in refusal(storage.save, [good, odd])
        assert storage.count() == 0
        storage.save([good, record("b\0")])
        assert {"a", "b\ufffd"} == {each.content for each in storage.list_records()}
        assert "3 dimensions" in refusal(storage.search, [1.0, 2.0, 3.0])
    with recollect.open_sync("memory:", embedder="none") as memory:
        assert "with an embedder" in refusal(RecollectStorage, memory, ADA)
    assert "open_sync" in refusal(RecollectStorage, recollect.open("memory:"), ADA)


def examples() -> list[str]:
    """Return the programs of the page: with a model, and without a key."""
    (section,) = re.findall(
        r"^## CrewAI\n(.*?)^## ", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    found = re.findall(r"^```python[^\n]*\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    head = "from recollect.testing.hashed_embedder import HashedEmbedder\n"
    return [head + each.replace('"minilm"', "HashedEmbedder()") for each in found]


def scenario_the_example_of_the_page_runs() -> None:
    with provider_on_loopback() as provider, TemporaryDirectory() as folder:
        provider.acts = Always()
        os.environ["OPENAI_BASE_URL"] = os.environ["OPENAI_API_BASE"] = f"{provider.url}/v1"
        os.environ["OPENAI_API_KEY"] = "none"
        os.chdir(folder)
        Path("example.py").write_text(examples()[0], "utf-8")
        for _ in "ab":  # in a second run the crew's own memories of the first are there as well
            provider.seen.clear()
            runpy.run_path("example.py", run_name="__main__")
            assert "My cat is called Tom." in sent(provider)


def scenario_the_example_without_a_key_runs() -> None:
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()) as told:
        os.chdir(folder)
        Path("example.py").write_text(examples()[1], "utf-8")
        runpy.run_path("example.py", run_name="__main__")

    assert "My cat is called Tom. None {}" in told.getvalue(), told.getvalue()
    assert "My cat is grey. recollect {'said by': 'user'" in told.getvalue(), told.getvalue()
