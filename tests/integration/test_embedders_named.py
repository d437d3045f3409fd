"""Embedders by name: the real client against a server on loopback, libraries, and the doors."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any

import numpy as np
import openai
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

import recollect
from recollect.cli import main
from recollect.embedders import open_embedder
from recollect.embedders.provider_embedder import ProviderEmbedder
from recollect.errors import EmbedderError, MissingExtraError, UsageError
from recollect.ports import Embedder
from tests.harness.model_provider import (
    Act,
    Provider,
    answers,
    breaks_off,
    drips,
    embeds,
    page,
    provider_on_loopback,
    resets,
)

KEY = "mango-7731-kestrel-0042"
ADA = ("ada",)
NAMES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OLLAMA_HOST",
    "OLLAMA_API_KEY",
    "FASTEMBED_CACHE_PATH",
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_on_loopback() as server:
        yield server


def opened(provider: Provider, *acts: Act) -> ProviderEmbedder:
    """Open an embedder of *provider*, which does *acts*, and then embeds whatever comes."""
    provider.acts = [*acts, *[embeds()] * 50]
    return ProviderEmbedder("m", base_url=f"{provider.url}/v1", api_key=KEY)


def test_vectors_come_in_the_order_of_the_texts(provider: Provider) -> None:
    """With length 1, in few requests; a text without words is not sent."""
    texts = [f"text {number}" for number in range(100)] + [" "]
    embedder = opened(provider)

    found = embedder.embed(texts)

    (alone,) = embedder.embed(["text 7"])
    assert "openai/m/8" == embedder.identity
    assert found[7] is not None
    assert alone is not None
    np.testing.assert_allclose(found[7], alone, atol=1e-6)
    assert found[100] is None
    assert [64, 36] == [len(body["input"]) for _, _, body in provider.seen[:2]]
    assert ("m", "float") == (provider.seen[0][2]["model"], provider.seen[0][2]["encoding_format"])
    assert f"Bearer {KEY}" == provider.seen[0][1]["authorization"]


def test_a_forked_child_has_connections_of_its_own(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On those of its parent, each of the two could read the vectors of the other's texts."""
    opened_by: list[int] = []

    class Counted(openai.DefaultHttpxClient):
        def __init__(self, **given: Any) -> None:
            opened_by.append(os.getpid())
            super().__init__(**given)

    monkeypatch.setattr(openai, "DefaultHttpxClient", Counted)
    embedder, parent = opened(provider), os.getpid()
    for process in (parent, parent, -1, -1, parent):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        embedder.embed(["text"])

    assert [parent, -1] == opened_by


def test_a_text_that_is_too_long_is_cut(provider: Provider) -> None:
    """It alone, and the others of its batch keep their vectors: it must not stop a backlog."""
    provider.acts = [embeds(characters_max=900)] * 50
    embedder = ProviderEmbedder("m", base_url=f"{provider.url}/v1")

    found = embedder.embed(["short", "long " * 5_000, "short"])

    assert all(vector is not None for vector in found)
    np.testing.assert_allclose(np.asarray(found[0]), np.asarray(found[2]))
    lengths = [len(text) for _, _, body in provider.seen for text in body["input"]]
    assert set(lengths) > {6_000, 3_000, 1_500, 750}


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            answers({"error": {"message": f"Bad key {KEY}"}}, 401),
            r"m refused \(401\); check the key",
        ),
        (answers({"error": {"message": "slow down"}}, 429), r"m is busy, limited or away \(429\)"),
        (answers({"error": {"message": "no such model"}}, 404), r"m does not exist.*base URL"),
        (answers({"error": {"message": "bad"}}, 400), r"m failed \(400\)"),
        (page(), r"m answered with a web page \(Log in\): check the base URL"),
        (answers({"what": "is this"}), "m answered with JSON that holds no vectors|No embedding"),
        (answers({"data": [{"index": 0, "embedding": [float("nan")]}]}), "length nan"),
        (answers({"data": [{"index": 0, "embedding": [0.0, 0.0]}]}), "length 0"),
        (answers({"data": [{"index": 0, "embedding": ["x"]}]}), "failed"),
        (answers({"data": []}), "0 vectors|No embedding"),
        (resets, "Connection"),
    ],
)
def test_each_failure_says_who_and_what(provider: Provider, act: Act, words: str) -> None:
    """As an error of the embedder, without the key in it."""
    embedder = opened(provider, act)

    with pytest.raises(EmbedderError, match=words) as failure:
        embedder.embed(["a query"])

    assert "openai/m" in str(failure.value)
    assert KEY not in f"{failure.value!r} {failure.value.__cause__!r}"


def test_another_number_of_dimensions_is_another_model(provider: Provider) -> None:
    """Its vectors are never put among the others."""
    embedder = opened(provider, embeds(8), embeds(9))
    assert "openai/m/8" == embedder.identity

    with pytest.raises(EmbedderError, match=r"openai/m gave vectors of \[9\] numbers.*of 8"):
        embedder.embed(["a text"])


@pytest.mark.anyio
async def test_recall_goes_on_by_words_where_the_provider_fails(provider: Provider) -> None:
    """And by meaning again when it is back."""
    embedder = opened(provider)
    async with recollect.open("memory:", embedder=embedder) as memory:
        await memory.append(ADA, "t", [{"role": "user", "content": "The cat is called Tom."}])
        await memory.settled(ADA)
        first = await memory.recall(ADA, "the cat")
        provider.acts[:] = [answers({"error": {"message": "down"}}, 503), *provider.acts]
        second = await memory.recall(ADA, "which cat")

    assert ("openai/m/8", None) == (first.embedder, second.embedder)
    assert [first.entries[0].text] == [each.text for each in second.entries]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "act",
    [
        answers({"error": {"message": "bad key"}}, 401),
        answers({"error": {"message": "slow down"}}, 429),
        page(),
        page(502),
        breaks_off({"data": [{"index": 0, "embedding": [0.1] * 8}]}),
        embeds(9),
        resets,
        drips,
    ],
    ids=["key", "429", "html", "502", "cut off", "dimension", "reset", "slow"],
)
async def test_whatever_a_provider_does_recall_goes_on_by_words(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    """In time, with what was said; health names who failed, and the next query finds it back."""
    embedder = opened(provider)
    async with recollect.open("memory:", embedder=embedder) as memory:
        await memory.append(ADA, "t", [{"role": "user", "content": "The cat is called Tom."}])
        await memory.settled(ADA)
        await memory.recall(ADA, "the cat")
        monkeypatch.setattr("recollect.embedders.provider_embedder.QUERY_TIMEOUT_S", 0.3)
        provider.acts[:] = [act, *[embeds()] * 50]
        began = monotonic()
        found = await memory.recall(ADA, "which cat")
        took_s = monotonic() - began
        told = (await memory.health()).task("embedding")
        again = await memory.recall(ADA, "what cat")

    assert (None, "openai/m/8") == (found.embedder, again.embedder)
    assert [each.text for each in again.entries] == [each.text for each in found.entries]
    assert took_s < 1.5
    assert told is not None
    assert told.last_error is not None
    assert "openai/m" in told.last_error.text


def test_the_environment_names_server_and_key(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_HOST", provider.url)
    provider.acts = [embeds()] * 4

    identities = [
        embedder.identity
        for name in ("openai/m", "ollama/nomic:v2")
        if (embedder := open_embedder(name)) is not None
    ]

    assert ["openai/m/8", "ollama/nomic:v2/8"] == identities
    sent = [(path, headers["authorization"]) for path, headers, _ in provider.seen]
    assert [("/v1/embeddings", f"Bearer {KEY}"), ("/v1/embeddings", "Bearer none")] == sent


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("openai/m", EmbedderError, "set OPENAI_API_KEY"),
        ("cohere/m", UsageError, "'openai/MODEL', 'ollama/MODEL', 'fastembed/MODEL'"),
        ("no_such_module:embed", UsageError, "names neither a provider nor a module"),
        ("openai/", UsageError, "unknown embedder"),
    ],
)
def test_a_name_that_cannot_be_opened_says_why(
    name: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        open_embedder(name)


@pytest.mark.parametrize("package", ["openai", "fastembed"])
def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtraError, match=rf"recollect\[{package}\]"):
        open_embedder(f"{package}/m")


class TextEmbedding:
    """As FastEmbed's class: it fetches weights, unless it is told to use those that are there."""

    fetched: set[str] = set()  # noqa: RUF012  # on purpose of the class, as a cache is

    def __init__(self, model_name: str, cache_dir: str, *, local_files_only: bool = False) -> None:
        if local_files_only and model_name not in self.fetched:
            msg = f"Could not load model {model_name} from any source."
            raise ValueError(msg)
        self.fetched.add(model_name)
        self.model_name = model_name
        self.cache_dir = cache_dir

    @staticmethod
    def list_supported_models() -> list[dict[str, Any]]:
        about = "Text embeddings, Unimodal (text), Multilingual (~100 languages), 512 tokens"
        return [{"model": "org/tiny", "dim": 3, "size_in_GB": 0.12, "description": about}]

    def embed(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        return (np.array([len(text), 1.0, 0.0], np.float32) for text in texts)


TextEmbedding.__module__ = "fastembed.text.text_embedding"


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[TextEmbedding]:
    module = ModuleType("fastembed")
    module.__dict__["TextEmbedding"] = TextEmbedding
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "weights"))
    monkeypatch.setattr(TextEmbedding, "fetched", set[str]())
    return TextEmbedding


def test_fastembeds_weights_are_fetched_by_one_command_alone(
    fastembed: type[TextEmbedding],
) -> None:
    """Opening says that they are missing, how large they are, and what fetches them."""
    wanted = r"`recollect embedder install fastembed/org/tiny` fetches them \(120 MB\)"
    with pytest.raises(EmbedderError, match=wanted):
        open_embedder("fastembed/org/tiny")
    assert set() == fastembed.fetched

    installed = CliRunner().invoke(main, ["embedder", "install", "fastembed/org/tiny"])
    embedder = open_embedder("fastembed/org/tiny")

    assert (0, {"org/tiny"}) == (installed.exit_code, fastembed.fetched)
    assert isinstance(embedder, Embedder)
    assert "fastembed/org/tiny/3" == embedder.identity


def test_an_opening_that_fetches_would_be_seen(
    fastembed: type[TextEmbedding], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above: a library that takes no heed of what it is told."""
    loaded = fastembed.__init__

    def heedless(self: TextEmbedding, **settings: Any) -> None:
        loaded(self, **(settings | {"local_files_only": False}))

    monkeypatch.setattr(fastembed, "__init__", heedless)

    open_embedder("fastembed/org/tiny")

    assert {"org/tiny"} == fastembed.fetched


@pytest.mark.usefixtures("fastembed")
def test_fastembeds_models_are_known_by_name() -> None:
    with pytest.raises(UsageError, match="knows no model 'org/other'; it knows: org/tiny"):
        open_embedder("fastembed/org/other")


class SentenceTransformer:
    """As the class of sentence-transformers: callable, which is not how it embeds."""

    class Card:
        base_model = "sentence-transformers/all-mpnet-base-v2"

    model_card_data = Card()

    def __call__(self, features: object) -> object:
        msg = "forward() takes features, not texts"
        raise TypeError(msg)

    def encode(self, texts: list[str], **settings: object) -> NDArray[np.float32]:
        assert {"show_progress_bar": False, "convert_to_numpy": True} == settings
        return np.array([[len(text), 2.0] for text in texts], np.float32)


SentenceTransformer.__module__ = "sentence_transformers.SentenceTransformer"


def test_objects_of_libraries_are_embedders() -> None:
    """Named by their weights."""
    by_encoding = open_embedder(SentenceTransformer())
    by_embedding = open_embedder(TextEmbedding("org/tiny", ""))

    assert by_encoding is not None
    assert by_embedding is not None
    assert "sentence-transformers/all-mpnet-base-v2/2" == by_encoding.identity
    assert "fastembed/org/tiny/3" == by_embedding.identity
    assert by_encoding.embed(["a", ""])[1] is None


# The doors


def invoke(*arguments: str, **environment: str) -> Result:
    result = CliRunner(env={"RECOLLECT_SCOPE": "ada", **environment}).invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_store_that_was_embedded_anew_opens_on_the_command_line(
    provider: Provider, tmp_path: Path
) -> None:
    """With the same name as in `reembed`: as an option, a variable, and in the configuration."""
    provider.acts = [embeds()] * 50
    store, config = tmp_path / "store.db", tmp_path / "memory.toml"
    config.write_text('embedder = "openai/m"\n', "utf-8")
    with recollect.open_sync(str(store), embedder="none") as memory:
        memory.append(ADA, "t", [{"role": "user", "content": "The cat is called Tom."}])
    base = {"RECOLLECT_STORE": str(store), "OPENAI_BASE_URL": f"{provider.url}/v1"}

    anew = invoke("reembed", "--to", "openai/m", "--json", **base)
    ways = [
        invoke("recall", "cat", "--json", "--embedder", "openai/m", **base),
        invoke("recall", "cat", "--json", RECOLLECT_EMBEDDER="openai/m", **base),
        invoke("recall", "cat", "--json", RECOLLECT_CONFIG=str(config), **base),
    ]

    assert {"embedder": "openai/m/8"} == json.loads(anew.stdout)
    assert ["openai/m/8"] * 3 == [json.loads(each.stdout)["embedder"] for each in ways]


def test_a_command_with_a_configuration_takes_the_embedder_of_it(tmp_path: Path) -> None:
    """Given as an option or a variable; without either it is the default."""
    config = tmp_path / "memory.toml"
    config.write_text('embedder = "best"\n', "utf-8")
    talk = ["chat", "--store", "memory:", "--model", "rules"]

    without = invoke(*talk)
    by_option = invoke(*talk, "--config", str(config))
    by_variable = invoke(*talk, RECOLLECT_CONFIG=str(config))
    overridden = invoke(*talk, "--config", str(config), "--embedder", "none")

    assert (0, 0) == (without.exit_code, overridden.exit_code)
    for each in (by_option, by_variable):
        assert (2, True) == (each.exit_code, "unknown embedder 'best'" in each.output)


@pytest.mark.usefixtures("fastembed")
def test_show_tells_languages_and_whether_it_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked of a server, and nothing is fetched."""
    ours = json.loads(invoke("embedder", "show", "--json").stdout)
    away = json.loads(invoke("embedder", "show", "openai/text-embedding-3-small", "--json").stdout)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    there = json.loads(invoke("embedder", "show", "ollama/bge-m3", "--json").stdout)
    local = json.loads(invoke("embedder", "show", "fastembed/org/tiny", "--json").stdout)

    assert "English" == ours["languages"]
    assert (False, True) == (away["usable"], "OPENAI_API_KEY" in away["problem"])
    assert ("more than 100", True) == (there["languages"], there["usable"])
    assert ("Multilingual (~100 languages)", 3) == (local["languages"], local["dimensions"])
    assert (False, True) == (local["usable"], "recollect embedder install" in local["problem"])


def test_an_unknown_embedder_is_refused_at_every_door() -> None:
    found = invoke("recall", "cat", "--store", "memory:", "--embedder", "best")

    assert (2, True) == (found.exit_code, "unknown embedder 'best'" in found.output)
    with pytest.raises(recollect.UsageError, match=r"None is no embedder.*'none' is for words"):
        recollect.open_sync("memory:", embedder=None).__enter__()
