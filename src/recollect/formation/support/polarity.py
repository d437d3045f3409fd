"""Polarity: whether a value reverses an attitude or a denial of its citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.clause_denials import (
    CHANGE,
    denied_words,
    denies_all,
    excepts_same,
    is_untouched,
    names_subject,
    own_keys,
    tells_both,
    tells_denial,
    without_exceptions,
    without_kept_subject,
    without_meant,
)
from recollect.formation.support.content_words import Token, is_form
from recollect.formation.support.declined_choices import declined_keys
from recollect.formation.support.languages import language_of
from recollect.formation.support.restrictions import restricts, widens
from recollect.formation.support.stances import BAD, GOOD, Attitude, Clause, Stance, clauses_in
from recollect.formation.support.subjects import speaks_of_another, speaks_of_user
from recollect.formation.support.vocabulary import is_neutral, neutral_length
from recollect.text.analysis import STOP_WORDS

TEXT_CHARACTERS_MAX: Final = 4_000
"""Characters of a value that are searched for denials; a memory is far shorter."""
_NEAR_WORDS: Final = 3
"""Most words between a denial and the word it denies, for the value to have to keep it."""
_DENIAL_BEHIND: Final = frozenset({"de", "nl"})
"""Languages in which a denial may stand behind the verb: "Ich rauche nie"."""
_NOT_YET: Final = re.compile(
    r"\byet\b|\bstill (?:to|has|have|needs?)\b|尚未|还没|还未|未", re.IGNORECASE
)
_DONE: Final = re.compile(
    r"[了过已]|\b(?:have|has|had|'ve|just|already|did|done|was|were|\w{3,}ed)\b", re.IGNORECASE
)
_FORMER: Final = re.compile(
    r"\b(?:before (?:that|then|this)|until then|previous(?:ly)?|originally|earlier)\b"
    r"|此前|之前|先前|原本|本来|原先",
    re.IGNORECASE,
)
"""Words of a former state, which may have been denied as it is now."""
_SIGNS_OF_ALLERGY: Final = re.compile(
    r"\b(?:hives|swell\w*|swollen|epipen|reacts?|reaction|intolerant)\b|肿|红疹|起疹|荨麻疹|休克",
    re.IGNORECASE,
)
_ROW: Final = re.compile(r"(?:不[\u3400-\u9fff]{2}){2,}")
_ROW_PARTS: Final = re.compile(r"不(..)")
"""Denials without a mark between them, and what each of them denies: 不抽烟不喝酒."""
_DENYING: Final = frozenset("不没别无")
_OWN: Final = re.compile(r"\b(?:mine|ours|(?:my|our) own)\b", re.IGNORECASE)
"""Words by which a speaker has one of what was denied before."""


def stance_reasons(
    text: str, before: str, cited: Sequence[Passage], spoken: Sequence[str] = ()
) -> Iterator[str]:
    """
    Yield each attitude of *text* that *cited* words do not tell, or tell of somebody else.

    What *before* says may stay. *spoken* is all that users say, where what they deny in other
    words may stand.
    """
    clauses = clauses_in(text[:TEXT_CHARACTERS_MAX])
    stood = {
        each for clause in clauses_in(before[:TEXT_CHARACTERS_MAX]) for each in clause.attitudes
    }
    taken = {each for clause in clauses for each in clause.attitudes} - stood
    if not taken:
        return
    said = _Said(cited)
    is_mixed = bool(taken & GOOD) and bool(taken & BAD)
    for attitude, denied in sorted(taken):
        if is_mixed and attitude != "allergic":
            continue  # one thing is liked, another is not: which of them is told clause by clause
        if not said.tells(clauses, attitude, denied=denied, spoken=spoken):
            what = "is not" if denied else "is"
            yield f"the cited words do not say that somebody {what} {_WORDS[attitude]}"
    for attitude in sorted({attitude for attitude, denied in taken if not denied}):
        if said.is_of_another(attitude) and speaks_of_user(clauses, attitude):
            yield f"the cited words say of somebody else who is {_WORDS[attitude]}: say of whom"


def turned_reasons(
    text: str, before: str, cited: Sequence[Passage], *, is_exposed: bool
) -> Iterator[str]:
    """
    Yield a word that *text* negates and *cited* words do not, or the other way round.

    A negation that was not said may follow from what was said ("coffee makes me ill"). It counts
    only if the window has words of others (*is_exposed*), which may have caused it.
    """
    clauses = clauses_in(text[:TEXT_CHARACTERS_MAX])
    if word := _Said(cited).turned(clauses, before, is_exposed=is_exposed):
        yield f"the cited words and the value differ in whether {word!r} is denied"


_WORDS: Final[dict[Attitude, str]] = {
    "allergic": "allergic",
    "prefers": "fond of something",
    "likes": "fond of something",
    "dislikes": "averse to something",
}


class _Said:
    """Statements and denials of the cited sentences, and of the questions they answer."""

    def __init__(self, cited: Sequence[Passage]) -> None:
        self._clauses: list[tuple[Clause, bool]] = []
        for each in (each for each in cited if each.trust == "user"):
            self._clauses += [(clause, False) for clause in without_meant(each.clauses)]
            # "Did it open?" "No, a delay. It opened in March": the answer tells it after all.
            is_no = each.is_no and not _repeats(each)
            self._clauses += [(clause, is_no) for clause in each.asked]
        self.stances: frozenset[Stance] = frozenset(
            (attitude, denied != flipped)
            for clause, flipped in self._clauses
            for attitude, denied in clause.attitudes
        )
        self.has_denial = any(
            clause.denials or clause.tells_end or flipped for clause, flipped in self._clauses
        ) or bool(self.stances & {("dislikes", False), ("allergic", False)})
        self.text = "\n".join(clause.text for clause, _ in self._clauses)
        self.restricts = restricts(self.text)
        self._has_own = _OWN.search(self.text) is not None
        self._language = language_of("\n".join(each.text for each in cited))
        self._words = {word.key for clause, _ in self._clauses for word in clause.words}
        self._cited = cited

    @cached_property
    def _declined(self) -> frozenset[str]:
        """The words of what an answer declines, which a value may deny."""
        return declined_keys(self._cited)

    def allows(self, attitude: Attitude, *, denied: bool) -> bool:
        """Return True unless the sentences say otherwise, or leave an allergy unsaid."""
        if (attitude, denied) in self.stances or attitude == "prefers":
            return True
        if attitude == "allergic":
            signs = (_SIGNS_OF_ALLERGY.search(clause.text) for clause, _ in self._clauses)
            return not denied and any(signs)
        is_good = (attitude == "likes") != denied
        good, bad = self.stances & GOOD, self.stances & BAD
        if is_good:
            return bool(good) or not bad
        return bool(bad) or not good or self.has_denial

    def tells(
        self,
        clauses: Sequence[Clause],
        attitude: Attitude,
        *,
        denied: bool,
        spoken: Sequence[str],
    ) -> bool:
        """Return True unless the sentences say otherwise, or leave an allergy unsaid."""
        if attitude == "allergic" and denied and self.affirms_of(clauses, attitude):
            return False
        if self.allows(attitude, denied=denied):
            return True
        if attitude != "allergic" or not denied:
            return False
        return self.denies_of(clauses, attitude, spoken) or self.excepts_person(clauses)

    def excepts_person(self, clauses: Sequence[Clause]) -> bool:
        """
        Return True if users say who has the allergy, and that another one has not.

        "I'm the nut one, not her" says that she is not allergic to nuts; that the user is not, it
        does not.
        """
        said = [each for each, _ in self._clauses]
        if not any(_SIGNS_OF_ALLERGY.search(each.text) or each.attitudes for each in said):
            return False
        denying = [each for each in clauses if ("allergic", True) in each.attitudes]
        return bool(denying) and all(any(excepts_same(e, each) for e in said) for each in denying)

    def denies_of(
        self, clauses: Sequence[Clause], attitude: Attitude, spoken: Sequence[str]
    ) -> bool:
        """
        Return True if users tell the attitude, and deny it of what *clauses* deny it of.

        "The test was for allergies: dust yes, cats nothing at all" says that cats are none.
        """
        said = [each for each, _ in self._clauses]
        said += [each for text in spoken for each in clauses_in(text[:TEXT_CHARACTERS_MAX])]
        if not any((attitude, False) in each.attitudes for each in said):
            return False
        denied = {key for each in said if denies_all(each) for key in own_keys(each)}
        told = {
            key for each in clauses if (attitude, True) in each.attitudes for key in own_keys(each)
        }
        return bool(denied & told)

    def affirms_of(self, clauses: Sequence[Clause], attitude: Attitude) -> bool:
        """Return True if the sentences tell the attitude of all that *clauses* deny it of."""
        told = {key for e in clauses if (attitude, True) in e.attitudes for key in own_keys(e)}
        having, lacking = (
            {
                key
                for e, _ in self._clauses
                if (attitude, is_denied) in e.attitudes
                for key in own_keys(e)
            }
            for is_denied in (False, True)
        )
        return bool(told & having - lacking) and not told & lacking - having

    def is_of_another(self, attitude: Attitude) -> bool:
        """Return True if only clauses about someone else have the attitude."""
        having = [each for each, _ in self._clauses if (attitude, False) in each.attitudes]
        return bool(having) and all(map(speaks_of_another, having))

    def turned(self, clauses: Sequence[Clause], before: str, *, is_exposed: bool) -> str:
        """Return a word that the value denies and the sentences do not, or the other way round."""
        if widens(" ".join(each.text for each in clauses), self.text):
            return "all"
        if self.has_denial or _denies(before):
            return self._dropped(clauses, before)
        if not is_exposed:
            return ""
        for key, word in {
            word.key: word for each in clauses for word in denied_words(each)
        }.items():
            is_said = key in self._words and key not in self._declined
            if is_said and not self._is_still_to_come(clauses, key):
                return word.folded
        return self._turned_run(clauses)

    def _dropped(self, clauses: Sequence[Clause], before: str) -> str:
        """Return a word that was said only with a denial, of a value without one."""
        is_restricted = self.restricts and any(restricts(each.text) for each in clauses)
        if is_restricted or _has_bad(clauses):
            return ""
        if any(map(tells_denial, clauses)):
            return self._dropped_of_row(clauses)
        clauses = [each for each in clauses if not _FORMER.search(each.text)]
        is_changed = any(CHANGE.search(each.text) for each in clauses)
        former = before[:TEXT_CHARACTERS_MAX]
        clauses = [without_kept_subject(e, former, self._denying(e)) for e in clauses]
        parts = [clause.words for clause in clauses]
        told = frozenset(word.key for words in parts for word in words)
        if self._language not in {"en", ""}:
            parts = [tuple(chain.from_iterable(parts))]
        for words in parts:
            plain = [each for each in words if not each.is_run and not is_neutral(each)]
            found = [self._found(each, told, is_changed=is_changed) for each in plain]
            if any(found) and all(map(all, filter(None, found))):
                return next(each.folded for each, where in zip(plain, found, strict=True) if where)
        return self._dropped_run(clauses)

    def _dropped_of_row(self, clauses: Sequence[Clause]) -> str:
        """
        Return what a row of denials denies and a value that keeps the rest of it affirms.

        不抽烟不喝酒 is not retold by 抽烟，不喝酒.
        """
        told = "\n".join(each.text for each in clauses)
        rows = (row for clause, _ in self._clauses for row in _ROW.finditer(clause.text))
        denied = (part for row in rows for part in _ROW_PARTS.findall(row.group()))
        return next((each for each in denied if _affirms(each, told, self.text)), "")

    def _denying(self, clause: Clause) -> list[Clause]:
        """Return the clauses that deny something and name what *clause* begins with."""
        said = [each for each, flipped in self._clauses if each.denials and not flipped]
        return [each for each in said if names_subject(each, clause)]

    def _dropped_run(self, clauses: Sequence[Clause]) -> str:
        """Return what was said only with a negation, in a script without spaces."""
        told = {
            run.key[at : at + 2]
            for clause in clauses
            for run in clause.words
            if run.is_run
            for at in range(len(run.key) - 1)
            if _is_plain(run.key[at : at + 2])
        }
        found: dict[str, list[bool]] = {}
        for clause, flipped in self._clauses:
            for run in (each for each in clause.words if each.is_run):
                for at in range(len(run.key) - 1):
                    pair = run.key[at : at + 2]
                    if pair in told:
                        denied = clause.denies(run.start + at, is_run=True)
                        found.setdefault(pair, []).append(denied != flipped)
        return next(iter(found)) if found and all(map(all, found.values())) else ""

    def _turned_run(self, clauses: Sequence[Clause]) -> str:
        """Return what a clause negates that was said without one, in a script without spaces."""
        for clause in map(without_exceptions, clauses):
            for token in clause.words:
                if not token.is_run or not clause.denials:
                    continue
                for at in range(token.end - token.start - 1):
                    pair = token.key[at : at + 2]
                    is_denied = clause.denies(token.start + at, is_run=True)
                    is_said = any(pair in run for run in self._words) and _is_plain(pair)
                    is_said = is_said and not any(pair in each for each in self._declined)
                    if is_denied and is_said and not self._is_still_to_come([clause], pair):
                        return pair
        return ""

    def _is_still_to_come(self, clauses: Sequence[Clause], key: str) -> bool:
        """Return True if what is told as not done yet was said to be done later, or to be due."""
        if not any(_NOT_YET.search(each.text) for each in clauses):
            return False
        said = [each.text for each, _ in self._clauses if key in each.text]
        return bool(said) and not any(map(_DONE.search, said))

    def _is_denied(self, clause: Clause, word: Token, told: frozenset[str]) -> bool:
        if self._language in _DENIAL_BEHIND:
            return bool(clause.denials)
        if self._has_own and "own" in told:
            return False  # "no hire truck, I take mine": a truck of their own
        return clause.denies(word.start, reach=_NEAR_WORDS) and not tells_both(clause, word, told)

    def _found(self, wanted: Token, told: frozenset[str], *, is_changed: bool) -> list[bool]:
        """
        Return, for each place where a word was said, whether it is denied there.

        What was not touched is there; it counts as denied only if the value tells it *is_changed*.
        *told* are all words of the value.
        """
        return [
            (self._is_denied(clause, word, told) and (is_changed or not is_untouched(clause, word)))
            != flipped
            for clause, flipped in self._clauses
            for word in clause.words
            if word.key == wanted.key or is_form(word.folded, wanted.folded)
        ]


def _affirms(part: str, told: str, said: str) -> bool:
    """Return True if *told* has *part* each time without a denial, and *said* with one."""
    one, other = (_before(part, each) for each in (told, said))
    return bool(one) and _DENYING.isdisjoint(one) and _DENYING.issuperset(other)


def _before(part: str, text: str) -> set[str]:
    """Return the characters that stand right before *part*."""
    return {text[: each.start()][-1:] for each in re.finditer(re.escape(part), text)}


def _repeats(answer: Passage) -> bool:
    """Return True if an answer goes on to affirm a word of its question."""
    asked = [word for clause in answer.asked for word in clause.words if not word.is_run]
    told = [
        word
        for clause in answer.clauses
        for word in clause.words
        if not word.is_run and word.folded not in STOP_WORDS and not clause.denies(word.start)
    ]
    return any(
        one.key == other.key or is_form(one.folded, other.folded)
        for one in asked
        if one.folded not in STOP_WORDS
        for other in told
    )


def _denies(text: str) -> bool:
    return any(clause.denials for clause in clauses_in(text[:TEXT_CHARACTERS_MAX]))


def _has_bad(clauses: Sequence[Clause]) -> bool:
    stances = {each for clause in clauses for each in clause.attitudes}
    return bool(stances & BAD)


def _is_plain(pair: str) -> bool:
    return not all(neutral_length(pair, at) for at in range(2))
