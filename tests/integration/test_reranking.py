"""Rerankers: endpoints in each wire form, libraries' objects, what moves, and what fails."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from langchain_classic.retrievers.document_compressors import (
    CrossEncoderReranker,
    EmbeddingsFilter,
)
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_core.embeddings import DeterministicFakeEmbedding

import recollect
import recollect.recall.rerank_order
from recollect.cli import main
from recollect.errors import ModelDeniedError, ModelError, ModelUnavailableError, UsageError
from recollect.ports import Reranker
from recollect.recall.rerank_order import FAILURES_MAX, RERANK, REST_S, Reranking
from recollect.recall.results import Recall
from recollect.rerankers import open_reranker
from recollect.rerankers.endpoint import RerankEndpoint
from recollect.stores.locator import open_store
from recollect.wire.recalls import recall_from_json, recall_to_json
from tests.harness.model_provider import (
    Act,
    Exchange,
    Provider,
    answers,
    page,
    provider_on_loopback,
    resets,
)

pytestmark = pytest.mark.anyio

ADA = ("ada",)
KEY = "mango-7731-kestrel-0042"
SAID = ("The cat is called Tom.", "The cat likes fish.", "A cat and a dog.", "We moved to Oslo.")
LAST = "A cat and a dog."


def by_words(_: str, texts: Sequence[str]) -> list[float]:
    """Score the text with "dog" best, then the shorter ones: unlike recall."""
    return [1_000.0 if "dog" in text else -float(len(text)) for text in texts]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_on_loopback() as server:
        yield server


async def recalled(rerank: object, query: str = "the cat", limit: int = 3) -> Recall:
    """Recall from a memory of what was `SAID`, with this reranker."""
    async with recollect.open("memory:", embedder="none", rerank=rerank) as memory:
        for text in SAID:
            await memory.append(ADA, "t", text)
        return await memory.recall(ADA, query, limit=limit)


async def test_the_reranker_orders_the_best_and_is_among_the_reasons() -> None:
    """Signals still sum to the score, and scores still fall."""
    plain, found = await recalled(None), await recalled(by_words)

    assert LAST != plain.entries[0].text
    assert LAST == found.entries[0].text
    assert (None, f"{__name__}/by_words") == (plain.reranker, found.reranker)
    assert all(RERANK in each.signals for each in found.considered)
    assert all(RERANK not in each.signals for each in plain.considered)
    for each in found.considered:
        assert sum(each.signals.values()) == pytest.approx(each.score)
    scores = [each.score for each in found.entries]
    assert sorted(scores, reverse=True) == scores
    assert found.entries[0].signals[RERANK] > 0


async def test_an_answer_goes_over_the_wire_with_its_reranker() -> None:
    found = await recalled(by_words)

    again = recall_from_json(json.loads(json.dumps(recall_to_json(found))))

    assert found.reranker == again.reranker
    assert [each.signals for each in found.entries] == [each.signals for each in again.entries]


async def test_context_shows_what_the_reranker_puts_first() -> None:
    async with recollect.open("memory:", embedder="none", rerank=by_words) as memory:
        await memory.append(ADA, "earlier", [*SAID])
        told = await memory.context(ADA, "the cat", budget_tokens=50)

    assert LAST in told.text


def test_it_works_without_await() -> None:
    with recollect.open_sync("memory:", embedder="none", rerank=by_words) as memory:
        memory.append(ADA, "t", [*SAID])
        found = memory.recall(ADA, "the cat")

    assert LAST == found.entries[0].text


# Endpoints


def cohere(name: str = "relevance_score", key: str = "results") -> Act:
    """Answer in the form of Cohere and Jina, the best first."""

    def act(exchange: Exchange) -> None:
        body = exchange.server.seen[-1][2]
        scores = by_words(body["query"], body.get("documents") or body["texts"])
        listed = [{"index": place, name: score} for place, score in enumerate(scores)]
        listed.sort(key=lambda each: -each[name])
        answers({key: listed} if key else listed)(exchange)

    return act


@pytest.mark.parametrize(
    ("path", "act", "fields"),
    [
        ("/v1/rerank", cohere(), {"query", "documents", "top_n", "model"}),
        ("/v2/rerank", cohere(), {"query", "documents", "top_n", "model"}),
        ("/rerank", cohere("score", ""), {"query", "documents", "top_n", "model", "texts"}),
        ("/v1/rerank", cohere("relevance_score", "data"), {"query", "documents", "top_n", "model"}),
    ],
)
async def test_each_form_of_the_wire_is_spoken(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, path: str, act: Act, fields: set[str]
) -> None:
    """Of Cohere, Jina and vLLM, and of TEI; the key goes along if there is one."""
    monkeypatch.setenv("RECOLLECT_RERANK_KEY", KEY)
    provider.acts = [act]

    found = await recalled(f"{provider.url}{path}#tiny")

    ((asked, headers, body),) = provider.seen
    assert LAST == found.entries[0].text
    assert (path, f"Bearer {KEY}") == (asked, headers["authorization"])
    assert ("tiny", fields, "the cat") == (body["model"], set(body), body["query"])
    assert found.reranker == f"{provider.url.removeprefix('http://')}/tiny"


async def test_fewer_scores_put_the_others_behind_in_their_order(provider: Provider) -> None:
    """An endpoint may answer with the best alone, and with an index that there is not."""
    plain = await recalled(None, limit=9)
    listed = [{"index": 2, "relevance_score": 0.5}, {"index": 99, "relevance_score": 1}]
    provider.acts = [answers({"results": listed})]

    found = await recalled(f"{provider.url}/v1/rerank", limit=9)

    before = [each.text for each in plain.considered]
    assert [before[2], before[0], before[1], *before[3:]] == [
        each.text for each in found.considered
    ]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (answers({"results": []}), "no scores"),
        (answers({"results": [{"index": 0, "relevance_score": float("nan")}]}), "0 usable"),
        (answers([{"index": 0, "score": "high"}]), "no scores"),
        (answers({"error": "slow down"}, 429), r"busy, limited or away \(429\)"),
        (answers({"error": "bad key"}, 401), r"refused \(401\); check the key"),
        (answers({}, 307, {"location": "/elsewhere"}), "307"),
        (page(), r"web page \(Log in\).*check the URL"),
        (resets, "busy, limited or away"),
    ],
)
async def test_a_reranker_that_fails_changes_nothing(
    provider: Provider, caplog: pytest.LogCaptureFixture, act: Act, words: str
) -> None:
    """The order is that without; health says who failed and how, and no log shows the key."""
    plain = await recalled(None)
    provider.acts = [act]
    reranker = RerankEndpoint(f"{provider.url}/v1/rerank", api_key=KEY)

    async with recollect.open("memory:", embedder="none", rerank=reranker) as memory:
        for text in SAID:
            await memory.append(ADA, "t", text)
        found = await memory.recall(ADA, "the cat", limit=3)
        health = (await memory.health()).task("reranking")

    assert [each.text for each in plain.entries] == [each.text for each in found.entries]
    assert [each.signals for each in plain.entries] == [each.signals for each in found.entries]
    assert found.reranker is None
    assert health is not None
    assert health.state == "failing"
    assert health.last_error is not None
    assert reranker.identity in health.last_error.text
    assert KEY not in caplog.text
    provider.acts = [act]
    with pytest.raises(ModelError, match=words) if "usable" not in words else _nothing():
        reranker.rerank("the cat", SAID)


class _nothing:  # noqa: N801  # in the place of a context manager
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def test_no_redirect_takes_the_key_along(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant follows, as urllib does by itself, and the other server sees the key."""
    with provider_on_loopback() as other:
        elsewhere = answers({}, 302, {"location": f"{other.url}/v1/rerank"})
        reranker = RerankEndpoint(f"{provider.url}/v1/rerank", api_key=KEY)
        provider.acts, other.acts = [elsewhere] * 2, [answers({"results": []})] * 2

        with pytest.raises(ModelError):
            reranker.rerank("cat", SAID)
        followed = len(other.seen)
        monkeypatch.delattr("recollect.rerankers.endpoint._NoRedirects.redirect_request")
        with pytest.raises(ModelError):
            RerankEndpoint(f"{provider.url}/v1/rerank", api_key=KEY).rerank("cat", SAID)

    assert (0, 1) == (followed, len(other.seen))
    assert KEY in other.seen[0][1]["authorization"]


async def test_a_slow_reranker_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall goes on when its time is over."""
    monkeypatch.setattr(recollect.recall.rerank_order, "ANSWER_S", 0.05)
    is_over = Event()

    def slow(query: str, texts: Sequence[str]) -> list[float]:
        is_over.wait(20)
        return by_words(query, texts)

    try:
        found = await recalled(slow)
    finally:
        is_over.set()

    assert found.reranker is None
    assert found.entries[0].text != LAST


async def test_after_failures_it_is_left_alone_for_a_while() -> None:
    """Each costs a query its time limit; after the rest it is asked again."""
    asked, now = list[str](), [0.0]

    def failing(query: str, texts: Sequence[str]) -> list[float]:
        asked.append(query)
        if len(asked) <= FAILURES_MAX:
            raise ConnectionError("away")
        return by_words(query, texts)

    reranker = open_reranker(failing)
    assert reranker is not None
    async with open_store("memory:") as store:
        reranking = Reranking(store, reranker, timer=lambda: now[0])
        early = [await reranking.scores("cat", SAID) for _ in range(FAILURES_MAX + 5)]
        now[0] += REST_S
        late = await reranking.scores("cat", SAID)

    assert [None] * (FAILURES_MAX + 5) == early
    assert FAILURES_MAX + 1 == len(asked)
    assert late == by_words("cat", SAID)


async def test_formation_asks_no_reranker() -> None:
    """Its search for what is known is not a user's: it would cost a call for each formation."""
    from recollect.recall.query import RecallQuery, Where

    asked = list[str]()

    def noting(query: str, texts: Sequence[str]) -> list[float]:
        asked.append(query)
        return by_words(query, texts)

    async with recollect.open("memory:", embedder="none", rerank=noting) as memory:
        await memory.append(ADA, "t", [*SAID])
        recaller = memory._runtime.recaller
        assert recaller is not None
        query = RecallQuery(
            query="cat",
            limit=3,
            budget_tokens=None,
            where=Where(),
            asked_at=None,
            is_reranked=False,
        )
        await recaller.recall([ADA], query)

    assert [] == asked


# Objects of libraries


class OwnCrossEncoder(BaseCrossEncoder):
    """As a cross-encoder in LangChain's form."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        return [by_words(query, [text])[0] for query, text in text_pairs]


async def test_compressors_of_langchain_are_rerankers() -> None:
    """What they leave out comes last; some say no score, and their order counts."""
    compressor = CrossEncoderReranker(model=OwnCrossEncoder(), top_n=2)
    filtering = EmbeddingsFilter(embeddings=DeterministicFakeEmbedding(size=8), k=2)

    found = await recalled(compressor)
    filtered = await recalled(filtering)

    assert LAST == found.entries[0].text
    assert found.reranker is not None
    assert found.reranker.endswith("CrossEncoderReranker")
    assert filtered.reranker is not None


class CrossEncoder:
    """As the class of sentence-transformers: it predicts for pairs, and its call takes tensors."""

    model_name = "cross-encoder/tiny"

    def __call__(self, features: object) -> object:
        raise TypeError

    def predict(self, pairs: list[tuple[str, str]]) -> Any:
        return np.array([by_words(query, [text])[0] for query, text in pairs], np.float32)


class TextCrossEncoder:
    """As FastEmbed's class: it yields a score per document."""

    model_name = "org/tiny"

    def rerank(self, query: str, documents: Sequence[str]) -> Iterator[float]:
        yield from by_words(query, documents)


@pytest.mark.parametrize("object_", [CrossEncoder(), TextCrossEncoder()])
async def test_cross_encoders_are_rerankers(object_: Any) -> None:
    found = await recalled(object_)

    assert LAST == found.entries[0].text
    assert f"{type(object_).__name__}/{object_.model_name}" == found.reranker


@pytest.mark.parametrize(
    ("scores", "kind", "words"),
    [
        ([1.0], ModelError, "gave 1 scores for 4 texts"),
        (ConnectionError("away"), ModelUnavailableError, "away"),
        (7, ModelError, "failed"),
    ],
)
def test_what_a_callable_does_wrong_is_told(
    scores: object, kind: type[ModelError], words: str
) -> None:
    def own(*_: object) -> Any:
        if isinstance(scores, Exception):
            raise scores
        return scores

    reranker = open_reranker(own)

    assert isinstance(reranker, Reranker)
    with pytest.raises(kind, match=words) as failure:
        reranker.rerank("cat", SAID)
    assert f"{__name__}/" in str(failure.value)


async def test_scores_that_are_none_or_nan_come_last() -> None:
    plain = await recalled(None, limit=9)
    found = await recalled(
        lambda _, texts: [float("nan"), None, *[1.0] * (len(texts) - 2)], limit=9
    )

    before = [each.text for each in plain.considered]
    assert [*before[2:], *before[:2]] == [each.text for each in found.considered]


@pytest.mark.parametrize(
    ("choice", "kind", "words"),
    [
        ("best", UsageError, "write its URL"),
        ("ftp://x/rerank", UsageError, "write its URL"),
        ("http://:80/rerank", UsageError, "the URL"),
        ("jina/m", ModelDeniedError, "set JINA_API_KEY"),
        ("cohere/m", ModelDeniedError, "set COHERE_API_KEY"),
        ("no_such_module:rerank", UsageError, "neither a provider nor a module"),
        (7, UsageError, "is no reranker"),
        (CrossEncoder, UsageError, "is no reranker"),
    ],
)
def test_what_is_no_reranker_is_refused_when_it_is_opened(
    monkeypatch: pytest.MonkeyPatch, choice: object, kind: type[Exception], words: str
) -> None:
    for name in ("JINA_API_KEY", "COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(kind, match=words):
        open_reranker(choice)


def test_services_are_named_with_their_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JINA_API_KEY", KEY)

    reranker = open_reranker("jina/jina-reranker-v2-base-multilingual")

    assert isinstance(reranker, RerankEndpoint)
    assert "jina/jina-reranker-v2-base-multilingual" == reranker.identity
    assert KEY not in repr(reranker)


def test_the_command_line_takes_one(provider: Provider, tmp_path: Path) -> None:
    """As an option, and in the configuration."""
    provider.acts = [cohere()] * 9
    store, config = tmp_path / "store.db", tmp_path / "memory.toml"
    url = f"{provider.url}/v1/rerank"
    config.write_text(f'rerank = "{url}"\n', "utf-8")
    with recollect.open_sync(str(store), embedder="none") as memory:
        memory.append(ADA, "t", [*SAID])
    base = f"recall cat --json --store {store} --scope ada --embedder none".split()

    by_option = CliRunner().invoke(main, [*base, "--rerank", url])
    by_config = CliRunner(env={"RECOLLECT_CONFIG": str(config)}).invoke(main, base)

    for each in (by_option, by_config):
        assert each.exit_code == 0, each.output
        assert LAST == json.loads(each.stdout)["entries"][0]["text"]
