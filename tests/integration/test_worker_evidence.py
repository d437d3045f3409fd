"""Evidence on its whole way: from what was said, through patches, to what an erase takes along."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

import recollect
from recollect.formation.config import FormationSettings
from recollect.formation.patch import apply_patch
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import USER
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Json, JsonObject, NewMessage
from recollect.stores.json_pointers import covers, leaves
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel

ADA = ("users", "ada")
LIFE = replace(USER, name="Life", parameters={"type": "object"})


def new_lines(request: ModelRequest) -> list[tuple[int, str]]:
    """Return number and text of each new message of a request."""
    return [(number, words) for number, _, words in shown_in(request).new]


def grown(chance: random.Random, value: JsonObject | None, words: Sequence[str]) -> ToolCall:
    """Return a call that brings a word of each message into a document, anywhere."""
    if value is None:
        fields = dict(zip("abcd", words, strict=False))
        because: list[Json] = [
            {"message": n, "quote": word, "path": f"/{name}"}
            for n, (name, word) in enumerate(fields.items(), start=1)
        ]
        arguments = {"value": fields, "because": because}
        return ToolCall(name="Life", arguments=json.dumps(arguments))
    changes = list[Mapping[str, Json]]()
    for word in words:
        name, listed = chance.choice("abcdef"), chance.random() < 0.5
        there = value.get(name)
        cited: dict[str, Json] = {"quote": word, "message": int(word[1:])}
        if isinstance(there, list) and there and listed:
            at = chance.choice(["-", "0", str(chance.randrange(len(there)))])
            changes.append({"op": "add", "path": f"/{name}/{at}", "value": word, **cited})
        else:
            fresh = [word] if listed else word
            changes.append({"op": "add", "path": f"/{name}", "value": fresh, **cited})
        value = apply_patch(value, [dict(changes[-1])])
        other = chance.choice("abcdef")
        if other != name and other in value and chance.random() < 0.3:
            changes.append({"op": "move", "from": f"/{other}", "path": f"/{name}", **cited})
            value = apply_patch(value, [dict(changes[-1])])
    arguments = {"id": "m1", "changes": changes}
    return ToolCall(name="patch_memory", arguments=json.dumps(arguments))


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.prove) for n in range(12, 300))]
)
async def test_every_field_rests_on_its_message_and_goes_with_it(
    seed: int,
) -> None:
    """Whatever patches made the document; every quote stands in its message."""
    chance = random.Random(seed)  # noqa: S311 (it protects nothing)
    memories: list[recollect.Recollect] = []

    async def script(request: ModelRequest) -> ScriptedAnswer:
        found = await memories[0].get(ADA, "Life", "Life")
        lines = new_lines(request)
        call = grown(chance, found.value if found else None, [text.split()[0] for _, text in lines])
        numbers = {text.split()[0]: number for number, text in lines}
        text = str(call.arguments)
        for word, number in numbers.items():
            text = text.replace(f'"message": {int(word[1:])}}}', f'"message": {number}}}')
        return [ToolCall(name=call.name, arguments=text)] if found else [call]

    settings = FormationSettings(types=(LIFE,))
    async with recollect.open(
        embedder="none", model=ScriptedModel(script), formation=settings, worker=False,
        clock=FrozenClock(), ids=SeededIds(seed),
    ) as memory:  # fmt: skip
        memories.append(memory)
        said = 0
        for _ in range(6):
            texts = [f"w{1_000 + said + n} is what I like" for n in range(chance.randint(1, 3))]
            said += len(texts)
            spoken = [NewMessage(role="user", text=text) for text in texts]
            await memory.append(ADA, "talk", spoken)
            assert ["formed"] == [each.end for each in await memory.form(ADA)]
        messages = {each.id: each.text for each in (await memory.messages(ADA, "talk")).rows}
        found = await memory.get(ADA, "Life", "Life")
        assert found is not None
        for at, leaf in leaves(found.value):
            quoted = [e for p, each in found.evidence.items() if covers(p, at) for e in each]
            assert [leaf] == [messages[each.message].split()[0] for each in quoted]
            assert all(each.quote in messages[each.message] for each in quoted if each.quote)
        erased = chance.choice([*messages])
        await memory.erase(ADA, recollect.EraseMessages(thread="talk", messages=[erased]))

        left = await memory.get(ADA, "Life", "Life")

    gone = messages[erased].split()[0]
    expected = [leaf for _, leaf in leaves(found.value) if leaf != gone]
    assert expected == [leaf for _, leaf in leaves(left.value if left else {})]
