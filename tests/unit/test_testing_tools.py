"""The tools that are shipped for tests do what they say, without a test framework."""

import subprocess
import sys
from datetime import timedelta
from itertools import pairwise
from uuid import UUID

import numpy as np
import pytest

from recollect import testing
from recollect.ports import Clock, Embedder, Ids
from recollect.testing import NOON, CountingIds, FrozenClock, HashedEmbedder, SeededIds

LATER = NOON + timedelta(milliseconds=1)


def test_the_clock_stands_still() -> None:
    """A frozen clock moves when it is told to, and not else."""
    clock: Clock = FrozenClock()

    assert NOON == clock.now() == clock.now()


def test_the_clock_can_be_set_back() -> None:
    """A negative number of seconds sets the clock back, as a correction of the machine's would."""
    clock = FrozenClock(LATER)

    clock.advance(-0.001)

    assert NOON == clock.now()


@pytest.mark.parametrize("ids", [CountingIds(), SeededIds(1)], ids=["counting", "seeded"])
def test_ids_are_as_a_store_needs_them(ids: Ids) -> None:
    """Entry ids are positive and fit in 63 bits; names are UUIDv7 in the order of time."""
    entries = [ids.entry_id() for _ in range(100)]
    names = [ids.name(NOON), ids.name(NOON), ids.name(LATER)]

    assert 100 == len(set(entries))
    assert all(0 < each < 1 << 63 for each in entries)
    assert [7, 7, 7] == [UUID(name).version for name in names]
    assert 3 == len(set(names))
    assert names[2] == max(names)


def test_counted_names_are_in_order() -> None:
    """Names that are counted are in the order in which they were given."""
    ids = CountingIds()

    names = [ids.name(NOON) for _ in range(300)]

    assert all(one < other for one, other in pairwise(names))


def test_seeds_tell_ids_apart() -> None:
    """The same seed gives the same ids, another seed others."""
    one, same, other = (SeededIds(seed).entry_id() for seed in (1, 1, 2))

    assert one == same
    assert one != other


TEXTS = ["Ada lives in Oslo", "Where does Ada live?", "The invoice is overdue", "我住在奥斯陆", "a"]


def test_vectors_have_unit_length() -> None:
    """Every text with a word has a vector of length 1, of as many dimensions as promised."""
    embedder: Embedder = HashedEmbedder(64)

    vectors = [vector for vector in embedder.embed(TEXTS) if vector is not None]

    assert len(TEXTS) == len(vectors)
    assert [(64,)] * len(TEXTS) == [vector.shape for vector in vectors]
    assert np.allclose(1, [float(vector @ vector) for vector in vectors])
    assert {np.dtype(np.float32)} == {vector.dtype for vector in vectors}


def test_a_text_has_one_vector() -> None:
    """A text has the same vector in whatever company it is embedded, by any such embedder."""
    (alone,), (*_, among) = HashedEmbedder().embed(TEXTS[:1]), HashedEmbedder().embed(TEXTS[::-1])

    assert alone is not None
    assert among is not None
    assert alone.tobytes() == among.tobytes()


def test_words_shared_are_similarity() -> None:
    """Texts that share words, or forms of a word, are nearer than those that share none."""
    answer, question, other, *_ = HashedEmbedder().embed(TEXTS)

    assert answer is not None
    assert question is not None
    assert other is not None
    assert answer @ question > 0.2 > abs(answer @ other)


@pytest.mark.parametrize("text", ["", " ", "!?", "🙂"])
def test_a_text_without_a_word_is_not_understood(text: str) -> None:
    """Where there is nothing to spell, there is no vector."""
    assert [None] == list(HashedEmbedder().embed([text]))


def test_identity_names_the_dimensions() -> None:
    """Embedders whose vectors cannot be compared have different identities."""
    assert HashedEmbedder(64).identity != HashedEmbedder(65).identity


def test_the_tools_need_no_test_framework() -> None:
    """The tools, tables and models are imported without pytest and hypothesis."""
    program = (
        "import sys\n"
        "sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "import recollect.testing, recollect.testing.truth_tables\n"
        "import tests.harness.store_model, tests.harness.truth_tables\n"
        "import recollect.testing.follower\n"
    )

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert "" == finished.stderr


def test_the_contracts_are_loaded_when_asked_for() -> None:
    """The contracts are names of the package like its tools."""
    assert "StoreContract" == testing.StoreContract.__name__
    assert "DurableContract" == testing.DurableContract.__name__
    with pytest.raises(AttributeError, match="NoContract"):
        _ = testing.NoContract
