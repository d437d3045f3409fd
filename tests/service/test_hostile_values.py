"""Values that break naive programs are kept as they are, and searched as words alone."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from recollect.recall import query_analysis as question
from recollect.records import Scope
from recollect.server.authorization import Permission, Principal
from recollect.server.http import scope_access as reaching
from recollect.text.analysis import terms_of

BOAT = "My boat is called Penelope"
# What a search engine's own language could be made of; each holds a word that is remembered.
QUERIES = (
    *('"', "*", "^", "-", "'", "\\", "%", "_", "(", ")", "a AND", "NEAR(", "col:", "text:x"),
    *("' OR 1=1 --", "'; DROP TABLE messages", "a & | b", "!", "<->", ":*", "\u202e", "\u200b"),
    *("$where", "{$ne: 1}", "@tag:{x}", "~1", "[1 TO 2]", "\t", "\r\n", "🦉", "ﬁ", "NEAR/2"),
)
# Texts that are instructions somewhere: to a template, a shell, a reader of JSON, a terminal.
TEXTS = (
    *("{m.__class__.__mro__}", "{0}", "{", "}}", "{{7*7}}", "{% raw %}", "%s%n", "${HOME}"),
    *(
        "$(id)",
        "`id`",
        "<script>alert(1)</script>",
        "</memory>",
        '{"lc": 2, "type": "constructor"}',
    ),
    *(
        "!!python/object:os.system",
        "__proto__",
        "\x1b[31mred",
        "a\r\nb",
        "\ufeffa",
        "\u2028",
        "=1+1",
    ),
)
SPACES = "\n" * 16_000
# Scopes, threads and keys that a pattern, a folding or a joined text takes for one another.
ALIKE = (
    ("user_1", "userX1"),
    ("u1%", "u10"),
    ("a*", "ab"),
    ("admin", "ᴬdmin"),
    ("fi", "ﬁ"),
    ("Ada", "ada"),
    ("é", "e\u0301"),
    ("a", "a "),
    ("1", "01"),
    ("a.b", "a"),
    ("a:b", "a"),
)


OTHERS = ("The weather is fine", "We met at the station", "Tea is ready")


def moored(client: httpx.Client) -> None:
    """Keep a message that names the boat, and later ones that do not."""
    for number, text in enumerate((BOAT, *OTHERS)):
        said(client, "boat", text, f"m{number}").raise_for_status()


def said(client: httpx.Client, scope: str, text: str, id_: str = "m") -> httpx.Response:
    """Keep a message of a scope."""
    body = {"messages": [{"role": "user", "text": text, "id": id_}]}
    return client.post("/v1/threads/t/messages", params={"scope": scope}, json=body)


def found(client: httpx.Client, scope: str, query: str) -> list[str]:
    """Return the texts that recall finds."""
    answer = client.post("/v1/recall", params={"scope": scope}, json={"query": query})
    assert 200 == answer.status_code, answer.text
    return [each["text"] for each in answer.json()["entries"]]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_words(client: httpx.Client, query: str) -> None:
    """Signs of a query language are none: they are answered, and a word beside them is found."""
    moored(client)

    if query.strip():
        found(client, "boat", query)

    assert BOAT == found(client, "boat", f"{query} Penelope {query}")[0]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_kept_and_shown_as_it_is(client: httpx.Client, text: str) -> None:
    """No template is filled, nothing is made of it: in messages, memories, names and errors."""
    words = f"zebra {text} zebra"
    place = f"texts{TEXTS.index(text)}"
    scope = {"scope": place}
    body = {"messages": [{"role": "user", "text": words, "metadata": {text: text}}]}
    kept = client.post("/v1/threads/t/messages", params=scope, json=body)
    note = {"value": {"context": text or "x", "content": words}}
    written = client.put("/v1/memories/Note/n", params=scope, json=note)
    missing = client.get("/v1/threads/none", params=scope)

    (message,) = kept.json()["messages"]
    assert (words, {text: text}) == (message["text"], message["metadata"])
    assert note["value"] == written.json()["value"]
    assert words in found(client, place, "zebra")
    assert 404 == missing.status_code


def test_many_line_breaks_take_no_time(client: httpx.Client) -> None:
    """16,000 of them are kept, found and rendered like any text, and so are as many spaces."""
    for blank in (SPACES, " " * 16_000, "\t\r\n" * 5_000, "a" * 16_000 + "!"):
        assert 201 == said(client, "blank", f"quince {blank} quince", f"m{blank[:3]!r}").status_code

    assert 4 == len(found(client, "blank", f"quince{SPACES}quince"))


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_are_alike_are_two(client: httpx.Client, one: str, other: str) -> None:
    """Neither a scope, nor a thread, nor a key is taken for one that looks or folds like it."""
    pair = f"pair{ALIKE.index((one, other))}"
    one, other = f"{pair}{one}", f"{pair}{other}"
    said(client, one, f"secret of {one}").raise_for_status()
    note = {"value": {"context": "always", "content": f"secret of {one}"}}
    client.put("/v1/memories/Note/k", params={"scope": one}, json=note).raise_for_status()
    assert [] == found(client, other, "secret")
    for listing in ("threads", "memories", "formations"):
        rows = client.get(f"/v1/{listing}", params={"scope": other, "below": True}).json()
        assert [] == rows[listing]
    exported = client.get("/v1/export", params={"scope": other, "below": True}).text
    assert "secret" not in exported


NUMBERS: Mapping[str, int] = {"2**63": 2**63, "-2**63-1": -(2**63) - 1, "10**30": 10**30}


@pytest.mark.parametrize("name", sorted(NUMBERS))
@pytest.mark.parametrize("place", ["metadata", "value", "filter"])
def test_a_number_beyond_a_column_is_refused(client: httpx.Client, name: str, place: str) -> None:
    """A whole number that no backend can hold is refused wherever one can stand."""
    number = NUMBERS[name]
    if place == "metadata":
        body: dict[str, Any] = {
            "messages": [{"role": "user", "text": "x", "metadata": {"n": number}}]
        }
        answer = client.post("/v1/threads/t/messages", json=body)
    elif place == "value":
        answer = client.put("/v1/memories/Any/k", json={"value": {"n": number}})
    else:
        answer = client.get("/v1/memories", params={"filter": json.dumps({"n": number})})

    assert 422 == answer.status_code, answer.text


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
@pytest.mark.parametrize("place", ["body", "filter", "import"])
def test_what_is_no_number_is_refused(client: httpx.Client, word: str, place: str) -> None:
    """What JSON does not have is refused in a body, in a filter and in a line of an import."""
    if place == "body":
        content = f'{{"value": {{"n": {word}}}}}'
        kind = {"content-type": "application/json"}
        answer = client.put("/v1/memories/Any/k", content=content, headers=kind)
        assert 400 == answer.status_code, answer.text
    elif place == "filter":
        answer = client.get("/v1/memories", params={"filter": f'{{"n": {word}}}'})
        assert 422 == answer.status_code, answer.text
    else:
        line = (
            f'{{"kind": "memory", "scope": [], "type": "A", "key": "b", "value": {{"n": {word}}}}}'
        )
        kind = {"content-type": "application/x-ndjson"}
        told = client.post("/v1/import", content=line, headers=kind).json()
        assert (0, 1) == (told["taken"], told["refused_count"])


def test_a_search_that_reads_a_language_is_caught(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: where a sign ends the reading of a query, what is beside it is not found."""
    monkeypatch.setattr(question, "terms_of", lambda text: terms_of(text.partition('"')[0]))
    moored(client)

    assert [BOAT] != found(client, "boat", '" and Penelope "')[:1]


def test_a_service_that_folds_names_is_caught(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: where names are normalised, one scope reads another's."""

    def folded(
        principal: Principal, _needs: Permission, segments: Sequence[str] = (), **_: bool
    ) -> Scope:
        named = [unicodedata.normalize("NFKC", each).casefold() for each in segments]
        return (*principal.scope, *named)

    monkeypatch.setattr(reaching, "granted", folded)
    note = {"value": {"context": "always", "content": "secret of Bob"}}
    client.put("/v1/memories/Note/k", params={"scope": "Bob"}, json=note).raise_for_status()

    assert "secret of Bob" in str(found(client, "bob", "secret"))
