"""A service of several people: what its operator is told, and what keys see that may do less."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx
import pytest

import recollect
from recollect import Debounce, FormationLimits, FormationSettings, NewMessage
from recollect.records import PutMemory

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.ports import ModelRequest
    from recollect.records import Json
    from tests.page.conftest import Story, Walks

CHAPTERS: Final = ("above", "givenUp", "waiting", "imported", "nested", "edited", "keys", "reading")
ADA: Final = ("acme", "users", "ada")
BO: Final = ("acme", "users", "bo")
CY: Final = ("acme", "users", "cy")
DI: Final = ("acme", "users", "di")
LATER: Final = Debounce(quiet_s=3_600)
THREADS: Final = 55
"""So many threads of Cy wait, of which the service tells 50 at a time."""
CUSTOMER: Final[dict[str, Json]] = {
    "name": "Ada",
    "address": {"city": "Porto", "country": {"code": "PT", "name": "Portugal"}},
    "contacts": [{"kind": "mail", "value": "ada@example.org", "primary": True}],
    "newsletter": False,
    "plan": "basic",
}
TYPES: Final[list[dict[str, Json]]] = [
    {
        "name": "Customer",
        "description": "Who the customer is",
        "update_mode": "patch",
        "parameters": {
            "type": "object",
            "properties": {"plan": {"type": "string", "enum": ["basic", "full"]}},
        },
    }
]
EXPIRES_S: Final = 2.0


async def failing(_: ModelRequest) -> str:
    """Fail as a provider does that is away."""
    raise RuntimeError("connection reset")


def note(number: int) -> PutMemory:
    value = {"note": f"Letter {number} waits."}
    return PutMemory(type="Note", key=f"n{number}", value=value, state="quarantined")


async def filled(folder: Path) -> None:
    """Leave a store of two people, of whom one has three memories to review, and each a failure."""
    formation = FormationSettings(limits=FormationLimits(attempts=1))
    url = str(folder / "page.db")
    async with recollect.open(
        url, embedder="none", worker=False, model=failing, formation=formation
    ) as memory:
        for scope in (ADA, BO):
            await memory.append(scope, "broken", "I own a cat called Bo.")
            (result,) = await memory.form(scope)
            assert "dead" == result.end
        ticket: dict[str, Json] = {"severity": 2, "title": "The printer is on fire"}
        await memory.apply(
            ADA,
            [
                PutMemory(type="Customer", key="Customer", value=CUSTOMER),
                PutMemory(type="Ticket", key="t1", value=ticket, state="quarantined"),
                note(1),
                note(2),
            ],
        )
        await memory.apply(BO, [note(3)])
        for month, text in enumerate(("I own a kayak.", "It leaks.", "It is mended."), start=2):
            said = NewMessage(role="user", text=text, time=datetime(2025, month, 1, tzinfo=UTC))
            thread = "kayak" if month < 4 else "workshop"
            await memory.append(DI, thread, said, debounce=LATER)
        for number in range(THREADS):
            await memory.append(CY, f"t{number}", f"I own boat {number}.", debounce=LATER)


def made(address: str, first: str, **key: Any) -> str:
    """Make a key over HTTP, and return its secret."""
    answer = httpx.post(f"{address}/v1/keys", headers={"x-api-key": first}, json=key)
    return str(answer.raise_for_status().json()["key"])


def put_types(address: str, first: str) -> None:
    """Give Ada's scope a type whose plan is one of two."""
    url, params, headers = f"{address}/v1/types", {"scope": ["users", "ada"]}, {"x-api-key": first}
    known = httpx.get(url, params=params, headers=headers).raise_for_status().json()["types"]
    types = {"types": [*known, *TYPES]}
    httpx.put(url, params=params, headers=headers, json=types).raise_for_status()


def say(address: str, first: str) -> None:
    """Say two things in a thread of Cy at once, so that the audit has them in one row."""
    texts = ("My cat is called Bo.", "It sleeps.")
    httpx.post(
        f"{address}/v1/threads/cat/messages",
        params={"scope": ["users", "cy"]},
        headers={"x-api-key": first},
        json={"messages": [{"role": "user", "text": text} for text in texts]},
    ).raise_for_status()


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Walk through the operator's story once for all tests."""
    folder = tmp_path_factory.mktemp("operating")
    anyio.run(filled, folder)
    options = ("--scope", "acme", "--model", "rules")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RECOLLECT_MESSAGES_A_DAY", "600")
        with walks.serving(folder, *options, after_s=600) as (address, first):
            end = datetime.now(UTC) + timedelta(seconds=EXPIRES_S)
            made(address, first, name="old-dashboard", permissions=["read"], expires_at=str(end))
            ada = {"scope": ["users", "ada"], "permissions": ["read"]}
            reader = made(address, first, name="ada-reader", **ada)
            time.sleep(EXPIRES_S)
            put_types(address, first)
            say(address, first)
            keys = json.dumps({"first": first, "reader": reader})
            return walks.walked(address, extent="operating", script="operating.mjs", key=keys)


def test_every_chapter_ends_well(story: Story) -> None:
    """Nothing failed, nothing was asked elsewhere, and axe found nothing on any screen."""
    assert dict.fromkeys(CHAPTERS, "well") == story.chapters
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]
    assert [] == [found for audit in story.audits for found in audit["violations"]]
    assert {0} == set(story.overflows.values()), story.overflows


def test_what_waits_below_is_told_with_whose_it_is(story: Story) -> None:
    """Above all scopes nothing waits, and below it four do: three of Ada, one of Bo."""
    assert "Waits in scopes below 4" == story.facts["waits_below"]
    told = " ".join(story.facts["reviews_below"].split())
    assert "Waits in scopes below 4 users / ada 3 users / bo 1" == told
    assert story.facts["review_of_ada"]["url"].endswith("#/review?scope=users&scope=ada")


def test_a_review_without_a_reason_says_so(story: Story) -> None:
    """That it was written is no reason to doubt it."""
    assert "Written to be reviewed, without a reason." == story.facts["review_of_ada"]["doubt"]


def test_what_failed_below_is_told_with_whose_it_is(story: Story) -> None:
    """Each of the two has messages that were given up."""
    told = " ".join(story.facts["failed_below"].split())

    assert told.startswith("Failed in scopes below 2 ")
    assert "users / ada 1" in told
    assert "users / bo 1" in told


def test_messages_that_were_given_up_do_not_pass_for_formed(story: Story) -> None:
    """Overview and chat say so until they are tried again."""
    assert "Messages were given up" in story.facts["overview_given_up"]
    assert "Messages were given up" in story.facts["chat_given_up"]


def test_messages_wait_also_where_nothing_is_remembered(story: Story) -> None:
    """Of 50 threads, one with two; the steps alone would read as if nothing had been said."""
    assert "51+ messages wait" == story.facts["overview_waiting"]


def test_more_threads_wait_than_are_listed(story: Story) -> None:
    """The number of those that are listed is not that of all."""
    assert "Waiting 50+" == " ".join(story.facts["formation_waiting"].split())


def test_the_audit_names_a_thread_once_and_when_it_is_looked_at(story: Story) -> None:
    """Each name is a request: of the rows that nobody sees none is made."""
    assert {"threads": ["My cat is called Bo."], "unseen": True} == story.facts["audit"]


def test_what_was_imported_is_read_on_the_day_of_its_words(story: Story) -> None:
    """Its thread was stored today, and something had been said in it in February and on 1 March."""
    wanted = {"threads": ["I own a kayak."], "said": ["I own a kayak.", "It leaks."]}

    assert wanted == story.facts["imported"]


def test_fields_within_fields_keep_their_width(story: Story) -> None:
    """No value of one word is broken into letters, and a yes or no is no JSON."""
    for name, values in story.facts["nested"].items():
        lines = {each["said"]: each["lines"] for each in values}
        assert {"PT": 1, "Portugal": 1, "ada@example.org": 1, "Yes": 1, "No": 1}.items() <= (
            lines.items()
        ), name


def test_one_of_many_documents_is_called_by_what_it_says(story: Story) -> None:
    """The name of its type is that of all others; where it waits, it is decided."""
    assert "The printer is on fire" == story.facts["ticket"]["called"]
    waits = story.facts["ticket"]["waits"]
    assert waits.startswith("It waits for a decision. Review")
    assert ["Approve", "Reject"] == waits.splitlines()[-2:]


def test_what_is_typed_before_the_types_are_known_is_saved(story: Story) -> None:
    """A choice that was not touched is no fault, and the notice says the change in words."""
    assert {"city": "Faro", "plan": '"basic"', "faults": 0} == story.facts["typed_early"]
    saved = story.facts["saved"]
    assert "basic" == saved["value"]["plan"]
    assert "Faro" == saved["value"]["address"]["city"]
    assert "address city Faro, country" in saved["toast"]


def test_the_timeline_says_yes_and_no(story: Story) -> None:
    """As the value beside it does."""
    assert "No" in story.facts["lanes"].split("\n")
    assert "false" not in story.facts["lanes"]


def test_the_way_back_closes_the_choice_of_a_scope(story: Story) -> None:
    """It would lie over another place."""
    assert 0 == story.facts["dialogs_after_back"]


def test_a_key_that_has_expired_is_marked(story: Story) -> None:
    """The day alone leaves open whether it still works."""
    assert "expired" in story.facts["expired"]
    assert "expired" not in story.facts["lasting"]


def test_the_quotas_stand_beside_what_was_used(story: Story) -> None:
    """They are of the tenant, not of the scope."""
    assert (
        "At most in a day (UTC), by all scopes of acme together: Messages 600"
        in story.facts["quotas"]
    )


def test_a_key_that_may_only_read_is_told_so(story: Story) -> None:
    """Nothing asks it for what it may not do."""
    told = story.facts["reader"]

    assert {"review", "types", "chat/broken"} == told.keys()
    assert all("This key may not write" in each for each in told.values())
    assert "Paste a type" not in told["types"]


def test_a_link_of_another_key_says_where_it_was_looked_for(story: Story) -> None:
    """Nothing was erased: the link counts from another scope. At home it says less."""
    for name in ("link_of_another_key", "thread_of_another_key"):
        assert "Looked for in acme / users / ada / users / bo." in story.facts[name]
    assert "Looked for" not in story.facts["gone_here"]
