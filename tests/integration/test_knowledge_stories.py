"""Stories that a graph tells right, and of which vectors of what was said miss the point."""

import re
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

import recollect
from recollect import SyncRecollect
from recollect.conversation import ConversationKGMemory, VectorStoreRetrieverMemory
from recollect.graph import KnowledgeGraph
from recollect.ports import ModelRequest
from recollect.testing import ScriptedModel

ADA = ("users", "ada")
NAMES = ("sam", "诺兰", "宫崎骏", "最好看的人")
WIDTH = 512


def part(text: str, begin: str, end: str) -> str:
    """Return what stands between the last *begin* and the next *end*."""
    return text.rsplit(begin, 1)[1].split(end, 1)[0].strip()


def reader(request: ModelRequest) -> str:
    """Answer by rules from the words of the request alone."""
    asked = request.turns[-1].text
    before = part(asked, "Lines before:\n", "\nLast line")
    if asked.endswith("Names:\n"):
        return ", ".join(named(before, part(asked, "Last line:\nHuman:", "Names:"))) or "NONE"
    known = part(asked, "Known facts:\n", "\nLines before:")
    facts: list[str] = []
    for line in part(asked, "Last lines:\n", "Facts:\n").splitlines():
        who, _, said = line.partition(": ")
        facts += stated(who, said, before, "<|>".join([known, *facts]))
        before += f"\n{line}"
    return "<|>".join(facts) or "NONE"


def named(before: str, said: str) -> list[str]:
    """Return the names in what was said; "her" and "他" are the last name before it."""
    found = [name for name in NAMES if name in said]
    if not found and re.search(r"\b(her|she)\b|他", said):
        last = max(NAMES, key=before.rfind)
        found = [last] if last in before else []
    return found


def stated(who: str, said: str, before: str, known: str) -> list[str]:
    sign = "~" if who == "AI" else ""
    if "我不是" in said:
        denied = re.search(r"\(Human, 是, (.+?)\)", known)
        return [f"!(Human, 是, {denied[1]})", f"(Human, 不是, {denied[1]})"] if denied else []
    if listed := re.search(r"最好看的人是(.+)。", said):
        people = re.split("、|和", listed[1].replace("你", "Human"))
        return [f"{sign}+({each}, 是, 最好看的人)" for each in people]
    who_is_meant = named(before, said)[:1] or named("", before.splitlines()[-1] if before else "")
    if films := re.findall("《.+?》", said):
        meant = named("", said) or named("", before) if "他" in before else who_is_meant
        return [f"{sign}+({meant[-1]}, 导演, {each})" for each in films] if meant else []
    if colour := re.search(r"favorite color is (\w+)", said):
        return [f"({each}, has favorite color, {colour[1]})" for each in who_is_meant]
    is_what = re.fullmatch(r"(\w+) is a (\w+)", said)
    return [f"({is_what[1]}, is, a {is_what[2]})"] if is_what else []


class LetterPairs(Embeddings):
    """Embeds a text as how often each pair of its letters occurs: near is what is worded alike."""

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * WIDTH
        for one, two in pairwise(text):
            vector[zlib.crc32(f"{one}{two}".encode()) % WIDTH] += 1.0
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(each) for each in texts]


@pytest.fixture
def store() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none", worker=False) as memory:
        yield memory


def graph(store: SyncRecollect, **options: Any) -> Any:
    return ConversationKGMemory(store, ADA, "talk", llm=ScriptedModel(reader), **options)


def vectors() -> Any:
    """Return the plain memory over a plain vector store: the four nearest documents."""
    plain = InMemoryVectorStore(LetterPairs())
    nearest: Any = plain.as_retriever(search_kwargs={"k": 4})
    return VectorStoreRetrieverMemory(retriever=nearest)


def told(memory: Any, turns: list[tuple[str, str]]) -> None:
    for asked, answered in turns:
        memory.save_context({"input": asked}, {"output": answered})
    if hasattr(memory, "flush"):
        memory.flush()


def shown(memory: Any, asked: str) -> str:
    return str(memory.load_memory_variables({"input": asked})["history"])


SAM = [("say hi to sam", "who is sam?"), ("sam is a friend", "okay")]
FILMS = [
    ("诺兰导演有哪些科幻作品？", "有《星际穿越》。"),
    ("他还有别的吗？", "当然：《记忆碎片》和《信条》。"),
    ("宫崎骏导演都有哪些作品？", "《龙猫》很有名。"),
    ("哪位导演的作品都很长？", "不好说。"),
    ("你知道导演都有哪些奖吗？", "有不少。"),
    ("有哪些作品是导演自己写的？", "很多。"),
]
BEAUTY = [
    ("说出三个最好看的人。", "最好看的人是阿哲、小林和你。"),
    ("别闹，我不是。", "好吧，抱歉。"),
    ("说出三个最高的人。", "我不知道。"),
    ("说出三个最好看的城市。", "巴黎、里斯本、京都。"),
    ("说出两个最好的朋友。", "这要问你。"),
    ("谁是最好看的猫？", "你家的。"),
]


def test_her_is_the_friend_of_the_line_before(store: SyncRecollect) -> None:
    """The last turns tell who is meant; without them nobody is."""
    memory = graph(store)
    told(memory, SAM)
    line = "her favorite color is red"

    triples = [tuple(each) for each in memory.get_knowledge_triplets(line)]
    assert [("sam", "has favorite color", "red")] == triples
    told(memory, [(line, "noted")])
    assert {"sam is a friend", "sam has favorite color red"} == set(
        KnowledgeGraph(store, ADA).knowledge("Sam")
    )


@pytest.mark.parametrize("every_turns", [1, 3])
def test_the_films_of_a_second_turn_are_found_by_the_directors_name(
    store: SyncRecollect, every_turns: int
) -> None:
    """He has no name in the second turn; the graph has both turns, the nearest texts one."""
    memory, plain = graph(store, every_turns=every_turns), vectors()
    told(memory, FILMS)
    told(plain, FILMS)
    question = "诺兰导演都有哪些作品？"

    films = {"《星际穿越》", "《记忆碎片》", "《信条》"}
    by_name = next(e for e in shown(memory, question).splitlines() if e.startswith("On 诺兰"))
    assert films == set(re.findall("《.+?》", by_name))
    assert {"《星际穿越》"} == films.intersection(re.findall("《.+?》", shown(plain, question)))


@pytest.mark.parametrize("every_turns", [1, 3])
def test_what_was_taken_back_is_not_said_again(store: SyncRecollect, every_turns: int) -> None:
    """The claim is gone and its denial there; the nearest texts have the claim, not the denial."""
    memory, plain = graph(store, every_turns=every_turns), vectors()
    told(memory, BEAUTY)
    told(plain, BEAUTY)
    question = "说出三个最好看的人。"

    text = shown(memory, question)
    assert "Human 不是 最好看的人" in text
    assert "Human 是 最好看的人" not in text
    assert "阿哲 是 最好看的人" in text
    assert [True, False] == [each in shown(plain, question) for each in ("小林和你", "我不是")]
