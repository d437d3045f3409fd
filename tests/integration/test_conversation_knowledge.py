"""The facts of a conversation: corrected, by speaker, batched and caught up."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recollect
from recollect import ModelError, SyncRecollect, UsageError
from recollect.conversation import ConversationKGMemory
from recollect.graph import EntityGraph, KnowledgeGraph
from recollect.messages import ToolMessage
from recollect.ports import ModelRequest
from recollect.stores.plans.erase_targets import EraseMessages, EraseThread
from recollect.testing import ScriptedModel

ADA = ("users", "ada")
TALK = "talk"
STATED = re.compile(r"(\w+) (lives in|likes|works with|is in|does not live in) (\w+)")


def part(text: str, begin: str, end: str) -> str:
    """Return what stands between the last *begin* and the next *end*."""
    return text.rsplit(begin, 1)[1].split(end, 1)[0].strip()


def rules(request: ModelRequest) -> str:
    """Name the words of a line that are known to be names; read plain sentences as facts."""
    asked = request.turns[-1].text
    if asked.endswith("Names:\n"):
        said = part(asked, "Last line:\nHuman:", "Names:\n")
        return ", ".join(re.findall(r"\b[A-Z][a-z]+\b", said)) or "NONE"
    facts = []
    for line in part(asked, "Last lines:\n", "Facts:\n").splitlines():
        sign = "~" if line.startswith("AI:") else ""
        for subject, predicate, object_ in STATED.findall(line.partition(": ")[2]):
            if predicate == "does not live in":
                facts.append(f"!({subject}, lives in, {object_})")
            else:
                several = "+" if predicate in {"likes", "works with"} else ""
                facts.append(f"{sign}{several}({subject}, {predicate}, {object_})")
    return "<|>".join(facts) or "NONE"


@pytest.fixture
def store() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none", worker=False) as memory:
        yield memory


def made(store: SyncRecollect, model: Any = None, thread: str = TALK, **options: Any) -> Any:
    return ConversationKGMemory(store, ADA, thread, llm=model or ScriptedModel(rules), **options)


def told(memory: Any, *turns: str | tuple[str, str]) -> None:
    for each in turns:
        asked, answered = each if isinstance(each, tuple) else (each, "I see.")
        memory.save_context({"input": asked}, {"output": answered})


def shown(memory: Any, asked: str) -> Any:
    return memory.load_memory_variables({"input": asked})["history"]


def told_of(line: str) -> set[str]:
    """Return the facts in a line of what is known of a name."""
    return set(line.partition(": ")[2].rstrip(".").split(". "))


def facts(store: SyncRecollect) -> set[str]:
    return {str(each) for each in KnowledgeGraph(store, ADA).facts()}


def test_a_correction_ends_the_old_fact(store: SyncRecollect) -> None:
    """One home at a time; the old one stays as history, and each names its message and time."""
    memory = made(store)
    told(memory, "Sam lives in Oslo.", "sam lives in Bergen.")

    assert "On Sam: Sam lives in Bergen." == shown(memory, "Where is Sam?")
    old, new = KnowledgeGraph(store, ADA).history("Sam")
    rows = store.messages(ADA, TALK).rows
    assert [rows[0].id, rows[2].id] == [each.evidence[""][0].message for each in (old, new)]
    assert [rows[0].time, rows[2].time] == [old.valid_from, new.valid_from]
    assert old.valid_until is not None
    assert new.valid_until is None


def test_what_can_be_several_stands_beside(store: SyncRecollect) -> None:
    """Two predicates of a pair, and two objects of a predicate with a sign."""
    memory = made(store)
    told(memory, "Sam likes Mira.", "Sam works with Mira.", "Sam likes tea.")

    assert "On Sam: Sam likes Mira. Sam works with Mira. Sam likes tea." == shown(memory, "Sam?")


def test_a_fact_is_found_from_both_ends_and_over_several_steps(store: SyncRecollect) -> None:
    """By its object as well; with *depth* what its entities lead to; none of them twice."""
    memory = made(store, depth=1)
    told(memory, "Sam lives in Oslo.", "Oslo is in Norway.")

    assert "On Norway: Oslo is in Norway." == shown(memory, "And Norway?")
    both = "On Sam: Sam lives in Oslo.\nOn Oslo: Oslo is in Norway."
    assert both == shown(memory, "Do Sam and Oslo fit?")
    memory.depth = 2
    assert "On Sam: Sam lives in Oslo. Oslo is in Norway." == shown(memory, "Sam?")


def test_what_the_assistant_states_counts_less(store: SyncRecollect) -> None:
    """It is known; the person ends it by saying otherwise, and then it cannot come back."""
    memory = made(store)
    told(memory, ("Hello.", "Sam lives in Rome."))
    (stated,) = KnowledgeGraph(store, ADA).facts("Sam")
    assert ["assistant", "On Sam: Sam lives in Rome."] == [stated.trust, shown(memory, "Sam?")]

    told(memory, ("Sam lives in Oslo.", "No, Sam lives in Rome."))

    assert {"Sam lives in Oslo"} == facts(store)


def test_words_that_only_the_assistant_has_are_never_the_persons(store: SyncRecollect) -> None:
    """A model that forgets the sign is not believed: the object stands in the answer alone."""
    memory = made(store, ScriptedModel(lambda _: "(Sam, lives in, Rome)"))
    told(memory, ("Where does Sam live?", "In Rome."))

    assert ["assistant"] == [each.trust for each in KnowledgeGraph(store, ADA).facts()]


def test_what_is_denied_ends(store: SyncRecollect) -> None:
    """The person ends what the assistant stated and what was said before."""
    memory = made(store)
    told(memory, ("Hi.", "Sam lives in Rome."), "Sam does not live in Rome.", "Mira likes tea.")

    assert {"Mira likes tea"} == facts(store)


@pytest.mark.parametrize("every_turns", [1, 9])
def test_what_was_denied_comes_back_only_by_the_person(
    store: SyncRecollect, every_turns: int
) -> None:
    """The assistant may repeat it as it likes; then the person says so."""
    memory = made(store, every_turns=every_turns)
    told(memory, ("Hi.", "Sam lives in Rome."), "Sam does not live in Rome.")
    told(memory, ("And?", "But Sam lives in Rome."), "Good night.")
    memory.flush()
    assert set() == facts(store)

    told(memory, "Now Sam lives in Rome.")
    memory.flush()
    assert {"Sam lives in Rome"} == facts(store)


def test_one_of_several_that_was_denied_is_not_repeated_either(store: SyncRecollect) -> None:
    """Nor when the assistant's words come without the sign, beside others that hold."""
    both, milk = "+(Sam, likes, tea)<|>+(Sam, likes, milk)", "(Sam, likes, milk)"
    answers = [both, f"!{milk}", f"~{milk}"]
    memory = made(store, ScriptedModel(lambda _: answers.pop(0)))
    told(memory, "Sam likes tea and milk.", "No milk!", ("Hm.", "Sam likes milk."))

    assert {"Sam likes tea"} == facts(store)


def test_the_assistant_denies_nothing_that_a_person_said(store: SyncRecollect) -> None:
    memory = made(
        store, ScriptedModel(lambda r: "~!(Sam, lives in, Oslo)" if "No" in said(r) else rules(r))
    )
    told(memory, "Sam lives in Oslo.", ("Really?", "No."))

    assert {"Sam lives in Oslo"} == facts(store)


def denying(request: ModelRequest) -> str:
    return "~!(Sam, lives in, Oslo)" if "No" in said(request) else rules(request)


def said(request: ModelRequest) -> str:
    return part(request.turns[-1].text, "Last lines:\n", "Facts:\n")


TALE = (
    "Sam lives in Oslo.",
    ("Who is Mira?", "Mira likes boats."),
    "Sam lives in Bergen, and Sam likes Mira.",
    "Good morning.",
    ("Mira lives in Rome.", "Mira lives in Faro."),
    "Mira does not live in Rome, sam lives in Oslo.",
    "Bergen is in Norway.",
)
KNOWN = {"Sam lives in Oslo", "Mira likes boats", "Sam likes Mira", "Bergen is in Norway"}


@pytest.mark.parametrize("every_turns", [1, 2, 3, 9])
def test_turns_read_together_give_the_same_facts(store: SyncRecollect, every_turns: int) -> None:
    """After a flush the graph is the same, and each turn was read once."""
    model = ScriptedModel(rules)
    memory = made(store, model, every_turns=every_turns)
    told(memory, *TALE)
    memory.flush()

    assert facts(store) == KNOWN
    assert -(-len(TALE) // every_turns) == len(model.requests)
    memory.flush()
    assert -(-len(TALE) // every_turns) == len(model.requests)


def test_what_was_not_read_yet_is_shown_as_it_was_said(store: SyncRecollect) -> None:
    """Before the flush a load calls no model and misses nothing."""
    model = ScriptedModel(rules)
    memory = made(store, model, every_turns=2)
    told(memory, "Sam lives in Oslo.", "Oslo is in Norway.", "Sam likes tea.")

    first, *rest = shown(memory, "Oslo?").splitlines()
    assert {"Oslo is in Norway", "Sam lives in Oslo"} == told_of(first)
    assert ["Human: Sam likes tea.", "AI: I see."] == rest
    assert 1 == len(model.requests)
    memory.return_messages = True
    kinds = [each.type for each in shown(memory, "Oslo?")]
    assert ["system", "human", "ai"] == kinds[-3:]


def test_a_message_that_tools_wrote_states_nothing(store: SyncRecollect) -> None:
    """It is read as what came before, and has no facts of its own."""
    model = ScriptedModel(rules)
    memory = made(store, model)
    told(memory, "Hello.")
    memory.chat_memory.add_message(ToolMessage("Sam lives in Rome.", tool_call_id="1"))
    told(memory, "Sam likes tea.")

    assert {"Sam likes tea"} == facts(store)
    assert "Sam lives in Rome." not in said(model.requests[-1])


FORTY = "<|>".join(f"+(Sam, knows, P{number})" for number in range(40))


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        ("NONE", 0),
        ("none.", 0),
        ("", 0),
        ("(Sam, likes)", 0),
        ("((((", 0),
        ("(Sam, likes, )<|>(, likes, tea)", 0),
        (f"(Sam, likes, {'x' * 1_001})", 0),
        ("!(Sam, likes, tea)", 0),
        ("Well! (Sam, likes, tea)", 1),
        ("- (Sam, likes, tea)\n- (Sam, lives in, Oslo)", 2),
        ("(Sam, likes, tea", 1),
        (FORTY, 40),
    ],
)
def test_whatever_a_model_answers_the_turn_is_kept_whole(
    store: SyncRecollect, answer: str, known: int
) -> None:
    """What can be read of it is learnt, the rest left out, and the turn not read again."""
    memory = made(store, ScriptedModel(lambda _: answer))
    told(memory, "Sam likes tea.")

    assert known == len(facts(store))
    assert 2 == len(store.messages(ADA, TALK).rows)
    assert "I see." not in shown(memory, "Sam?")


def test_more_facts_than_one_transaction_takes_are_all_kept(store: SyncRecollect) -> None:
    """An answer of a thousand facts is taken in pieces, and the turn is not read again."""
    answer = "<|>".join(f"+(Sam, knows, P{number})" for number in range(1_000))
    model = ScriptedModel(lambda _: answer)
    memory = made(store, model)
    told(memory, "Sam knows everybody.")
    memory.flush()

    assert [1_000, 1] == [len(facts(store)), len(model.requests)]


@pytest.mark.parametrize(("k", "before"), [(0, ""), (1, "Human: Two.\nAI: I see.")])
def test_the_lines_before_are_the_last_turns(store: SyncRecollect, k: int, before: str) -> None:
    """As many as *k* says, without the turn that is read."""
    model = ScriptedModel(rules)
    memory = made(store, model, k=k)
    told(memory, "One.", "Two.", "Three.")

    asked = model.requests[-1].turns[-1].text
    assert before == part(asked, "Lines before:\n", "Last lines:")


def test_forty_names_are_loaded(store: SyncRecollect) -> None:
    told(made(store, ScriptedModel(lambda _: FORTY)), "Sam knows everybody.")
    many = made(store, ScriptedModel(lambda _: ", ".join(f"P{n}" for n in range(40))))

    assert 40 == len(shown(many, "Who?").splitlines())


def failing(when: str) -> Callable[[ModelRequest], str]:
    """Return a rule that fails whenever the last line that it reads has *when*."""

    def answer(request: ModelRequest) -> str:
        asked = request.turns[-1].text
        if "Last lines:" in asked and said(request).endswith(f"{when}\nAI: I see."):
            raise ModelError("down")
        return rules(request)

    return answer


@pytest.mark.parametrize("every_turns", [1, 2])
def test_after_a_model_that_failed_the_turn_is_caught_up(
    store: SyncRecollect, every_turns: int
) -> None:
    """It is kept and shown as it was said, and the next save reads it with what came after."""
    memory = made(store, ScriptedModel(failing("Norway.")), every_turns=every_turns)
    told(memory, "Sam lives in Oslo.")
    with pytest.raises(ModelError):
        told(memory, "Oslo is in Norway.")

    assert 4 == len(store.messages(ADA, TALK).rows)
    assert shown(memory, "Oslo?").endswith("Human: Oslo is in Norway.\nAI: I see.")
    told(memory, "Sam likes tea.")
    assert {"Sam lives in Oslo", "Oslo is in Norway", "Sam likes tea"} == facts(store)
    assert "AI:" not in shown(memory, "Oslo?")


def test_a_first_turn_that_failed_is_read_by_a_flush(store: SyncRecollect) -> None:
    memory = made(store, ScriptedModel(failing("Oslo.")))
    with pytest.raises(ModelError):
        told(memory, "Sam lives in Oslo.")
    made(store).flush()

    assert {"Sam lives in Oslo"} == facts(store)


@pytest.mark.parametrize("every_turns", [1, 3])
def test_what_waits_is_read_also_once_what_was_read_is_erased(
    store: SyncRecollect, every_turns: int
) -> None:
    """Whether its model failed, or it waits for more turns; a thread that is erased begins anew."""
    answers = iter([rules, rules, None, *[rules] * 9])

    def model(request: ModelRequest) -> str:
        answer = next(answers) if every_turns == 1 else rules
        if answer is None:
            raise ModelError("away")
        return answer(request)

    memory = made(store, ScriptedModel(model), every_turns=every_turns)
    told(memory, "Sam lives in Oslo.", "Sam likes tea.")
    memory.flush()
    try:
        told(memory, "Mira lives in Bergen.")
    except ModelError:
        assert 1 == every_turns
    read = [each.id for each in store.messages(ADA, TALK).rows[:4]]
    store.erase(ADA, EraseMessages(thread=TALK, messages=read))

    told(memory, "Bo lives in Rome.")
    memory.flush()

    assert {"Mira lives in Bergen", "Bo lives in Rome"} == facts(store)
    store.erase(ADA, EraseThread(thread=TALK))
    told(memory, "Ida lives in Bonn.")
    memory.flush()
    assert {"Ida lives in Bonn"} == facts(store)


def test_facts_go_with_the_message_that_states_them(store: SyncRecollect) -> None:
    """One erased message of a batch takes its fact; the others stay."""
    memory = made(store, every_turns=2)
    told(memory, "Sam lives in Oslo.", "Mira likes tea.")
    first = store.messages(ADA, TALK).rows[0]
    store.erase(ADA, EraseMessages(thread=TALK, messages=[first.id]))

    assert {"Mira likes tea"} == facts(store)


def test_a_fact_goes_with_the_message_that_it_took_a_name_from(store: SyncRecollect) -> None:
    """A model that writes out "she" as Mira has the name of an earlier line, or of a fact."""

    def naming(request: ModelRequest) -> str:
        if request.turns[-1].text.endswith("Names:\n"):
            return "Mira"
        lines = part(request.turns[-1].text, "Last lines:\n", "Facts:\n")
        return "(Mira, lives in, Oslo)" if "Oslo" in lines else "(Mira, likes, tea)"

    memory = made(store, ScriptedModel(naming))
    told(memory, "Mira likes tea.", "She lives in Oslo.")
    first, *_ = store.messages(ADA, TALK).rows
    before = facts(store)

    store.erase(ADA, EraseMessages(thread=TALK, messages=[first.id]))

    assert {"Mira likes tea", "Mira lives in Oslo"} == before
    assert "Mira" not in repr(store.memories(ADA).rows)


async def test_what_is_erased_while_the_model_reads_it_is_not_learnt() -> None:
    """The model is asked again about what is left."""
    async with recollect.open(embedder="none", worker=False) as store:

        async def erasing(request: ModelRequest) -> str:
            first, *others = (await store.messages(ADA, TALK)).rows
            if others:
                await store.erase(ADA, EraseMessages(thread=TALK, messages=[first.id]))
            return rules(request)

        memory = ConversationKGMemory(store, ADA, TALK, llm=erasing)
        await memory.asave_context({"input": "Sam lives in Oslo."}, {"output": "Sam likes tea."})

        assert ["Sam likes tea"] == await KnowledgeGraph(store, ADA).aknowledge("Sam")


async def test_no_word_is_learnt_of_an_earlier_turn_that_is_erased_meanwhile() -> None:
    """The turns before the new one are in the prompt, so the model may repeat them."""
    async with recollect.open(embedder="none", worker=False) as store:
        first, _ = await store.append(ADA, TALK, ["My dog is Rex.", "A fine name."])

        async def erasing(request: ModelRequest) -> str:
            answer = "(User, loves, Rex)" if "Rex" in request.turns[-1].text else "NONE"
            await store.erase(ADA, EraseMessages(thread=TALK, messages=[first.id]))
            return answer

        memory = ConversationKGMemory(store, ADA, TALK, llm=erasing)
        await memory.asave_context({"input": "I love him."}, {"output": "I see."})

        assert "Rex" not in repr((await store.memories(ADA)).rows)
        assert [] == await memory.waiting(store)


def test_clear_forgets_what_this_thread_alone_stated(store: SyncRecollect) -> None:
    """Other threads of the scope, and what was added by hand, stay; a given graph is emptied."""
    one, other = made(store), made(store, thread="other")
    told(one, "Sam lives in Oslo.", "Mira likes tea.")
    told(other, "Mira likes tea.", "Bob likes Mira.")
    one.kg.graph.add("Ada", "owns", "this")
    one.clear()

    assert {"Mira likes tea", "Bob likes Mira", "Ada owns this"} == facts(store)
    assert ["", 0] == [shown(one, "Sam?"), len(one.chat_memory.messages)]
    made(store, kg=EntityGraph(KnowledgeGraph(store, ADA))).clear()
    assert set() == facts(store)


def test_a_memory_of_this_process_forgets_all() -> None:
    memory: Any = ConversationKGMemory(llm=ScriptedModel(rules))
    told(memory, "Sam lives in Oslo.")
    assert "On Sam: Sam lives in Oslo." == shown(memory, "Sam?")
    memory.clear()

    assert "" == shown(memory, "Sam?")
    told(memory, "Sam lives in Oslo.")
    assert "On Sam: Sam lives in Oslo." == shown(memory, "Sam?")


def test_after_a_restart_the_facts_and_what_waits_are_there(tmp_path: object) -> None:
    for line in ("Sam lives in Oslo.", "Sam likes tea.", "Oslo is in Norway."):
        with recollect.open_sync(f"{tmp_path}/memory.db", embedder="none", worker=False) as store:
            memory = made(store, every_turns=2)
            told(memory, line)
            known = shown(memory, "Sam?")

    of_sam, *rest = known.splitlines()
    assert {"Sam lives in Oslo", "Sam likes tea"} == told_of(of_sam)
    assert ["Human: Oslo is in Norway.", "AI: I see."] == rest[-2:]


async def test_the_awaited_face_does_the_same() -> None:
    async with recollect.open(embedder="none", worker=False) as store:
        memory = ConversationKGMemory(store, ADA, TALK, llm=ScriptedModel(rules), every_turns=2)
        await memory.asave_context({"input": "Sam lives in Oslo."}, {"output": "I see."})
        await memory.aflush()
        line = "Oslo is in Norway. Sam does not live in Rome."
        stated = await memory.aget_knowledge_triplets(line)
        names = await memory.aget_current_entities("Who is Sam?")
        known = await memory.aload_memory_variables({"input": "Sam?"})
        await memory.aclear()

        assert [("Oslo", "is in", "Norway")] == [tuple(each) for each in stated]
        assert ["Who", "Sam"] == names
        assert {"history": "On Sam: Sam lives in Oslo."} == known
        assert () == await KnowledgeGraph(store, ADA).afacts()


def test_a_graph_in_another_memory_is_written_there(store: SyncRecollect) -> None:
    """Facts come there without evidence, for an erase does not reach it."""
    kg = EntityGraph()
    memory = made(store, kg=kg)
    told(memory, "Sam lives in Oslo.", "Sam lives in Bergen.")

    assert ["Sam lives in Bergen"] == kg.get_entity_knowledge("sam")
    assert set() == facts(store)
    assert "On Sam: Sam lives in Bergen." == shown(memory, "Sam?")


def test_a_graph_of_langchain_is_taken(store: SyncRecollect) -> None:
    graphs = pytest.importorskip("langchain_community.graphs", reason="it is theirs")
    kg = graphs.NetworkxEntityGraph()
    memory = made(store, kg=kg)
    told(memory, "Sam lives in Oslo.")
    memory.every_turns = 2

    assert [("Sam", "Oslo", "lives in")] == kg.get_triples()
    assert "On Sam: Sam lives in Oslo." == shown(memory, "Sam?")


def test_a_graph_out_of_reach_is_refused(store: SyncRecollect) -> None:
    away = recollect.open(embedder="none")
    with pytest.raises(UsageError, match="different memories"):
        made(store, kg=EntityGraph(KnowledgeGraph(away, ADA)))


@pytest.mark.parametrize("option", ["every_turns", "depth"])
def test_the_original_has_no_options_of_ours(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option}=2"):
        ConversationKGMemory(llm=None, strict_original=True, **{option: 2})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["entity_extraction_prompt", "knowledge_extraction_prompt"])
def test_a_prompt_with_an_unknown_place_is_refused(store: SyncRecollect, name: str) -> None:
    with pytest.raises(UsageError, match="mood"):
        made(store, **{name: "{mood} {input}"})


def test_a_prompt_of_the_original_works_as_it_is(store: SyncRecollect) -> None:
    """One with two variables, whose answers have no signs."""
    model = ScriptedModel(lambda _: "(Sam, lives in, Oslo)")
    memory = made(store, model, knowledge_extraction_prompt="{history}|{input}")
    told(memory, "Sam lives in Oslo.")

    assert "|Human: Sam lives in Oslo.\nAI: I see." == model.requests[0].turns[-1].text
    assert {"Sam lives in Oslo"} == facts(store)


def test_the_model_is_shown_what_is_known_of_the_names(store: SyncRecollect) -> None:
    """So that it can deny a fact in its own words, and use its predicates."""
    model = ScriptedModel(rules)
    memory = made(store, model)
    told(memory, "Sam lives in Oslo.", "Mira likes tea.", "Does Sam sleep?")

    asked = model.requests[-1].turns[-1].text
    known = part(asked, "Known facts:\n", "\nLines before:")
    assert {"(Sam, lives in, Oslo)", "(Mira, likes, tea)"} == set(known.split("<|>"))


def test_the_persons_own_facts_are_always_shown(store: SyncRecollect) -> None:
    memory = made(store)
    told(memory, "Human likes tea.")

    assert "On Human: Human likes tea." == shown(memory, "what now?")


def test_parts_leave_out_the_last_name_first(store: SyncRecollect) -> None:
    """For a budget: what was said and not read goes last."""
    memory = made(store, every_turns=2)
    told(memory, "Sam lives in Oslo.", "Mira likes tea.", "Good night.")
    part_ = memory.load_parts({"input": "Sam and Mira?"})["history"]

    assert shown(memory, "Sam and Mira?") == part_.render(part_.entries)
    fewer = part_.render(part_.entries[1:])
    assert fewer.endswith("Human: Good night.\nAI: I see.")
    assert 1 == fewer.count("On ")
    assert "AI: I see." == part_.render(part_.entries[-1:])
