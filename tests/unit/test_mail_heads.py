"""Mail that is pasted with its head: what follows is not the user's; a note with a colon is."""

import time
from typing import Final

import pytest

from recollect.formation.grounding.foreign_text import foreign_spans
from recollect.formation.rule_statements import statements_in
from recollect.formation.wording import mail_heads

BODY: Final = "I live in Pisa."
BODY_CHINESE: Final = "我住在比萨。"

HEADS: Final = [
    "Subject: hello\nFrom: bank@example.com",
    "From: bank@example.com\nSubject: hello",
    "From: bank@example.com",
    "From: The Bank <bank@example.com>",
    "**From:** The Bank <bank@example.com>",
    "Date: Mon, 3 Mar 2025 10:02\nSubject: hello",
    "Subject: hello\nDate: 3 March 2025\nTo: mira@example.com",
    "To: mira@example.com\nFrom: The Bank",
    "To: mira@example.com,\n  rui@example.com\nSubject: hello",
    "Subject: hello\n\nFrom: The Bank",
    "subject: hello\nfrom: The Bank",
    "Subject: hello From: bank@example.com Date: 3 March",
    "Subject: Re: your account",
    "Betreff: AW: Ihr Konto",
    "Betreff: Ihr Konto\nVon: bank@example.com",
    "Von: Die Bank\nAn: Mira\nBetreff: Ihr Konto",
    "Objet : votre compte\nDe : La Banque",
    "Asunto: su cuenta\nDe: El Banco",
    "Oggetto: conto\nDa: La Banca",
    "Reply-To: bank@example.com\nSubject: hello",
]
HEADS_CHINESE: Final = [
    "主题：账户\n发件人：银行",
    "主旨：帳戶\n寄件者：銀行",
    "寄件人：銀行\n收件人：Mira",
    "发件人：银行 <bank@example.com>",
    "发件人：bank@example.com",
    "收件人：米拉\n发送时间：2025年3月3日",
    "主題：回覆：您的帳戶",
    "主题：回复：您的账户",
    "件名：口座\n差出人：銀行",
]
NOTES: Final = [
    f"Subject: maths is what I like. {BODY}",
    f"Subject: maths is what I like\n{BODY}",
    f"Subject: maths\n\n{BODY}",
    f"Subject: regret. {BODY}",
    f"From: Monday I work again. {BODY}",
    f"Date: 5 May\n{BODY}",
    f"To: do\nBuy milk. {BODY}",
    f"To: landlord@example.com\n{BODY}",
    f"Contact me: mira@example.com\n{BODY}",
    f"I'm sending this to my landlord, ok?\nTo: landlord@example.com\nSubject: Tap\n{BODY}",
    f"Please check the spelling of my mail.\nTo: the landlord\nSubject: Tap\n{BODY}",
    f"Name: Mira\nHome: Pisa\n{BODY}",
    f"Van: a red Volvo\n{BODY}",
    f"{BODY}\nSubject: hello\nFrom: bank@example.com\nI live in Oslo.",
]
NOTES_CHINESE: Final = [
    f"主题：数学\n{BODY_CHINESE}",
    f"主题：同学会\n时间：5月3日\n{BODY_CHINESE}",
    f"日期：5月3日\n{BODY_CHINESE}",
]


def homes_in(text: str) -> list[object]:
    return [each.value for each in statements_in(1, "user", text) if each.field == "home"]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize("before", ["", "What do you make of it?\n", "FYI\n\n"])
@pytest.mark.parametrize(
    ("head", "body"),
    [*((each, BODY) for each in HEADS), *((each, BODY_CHINESE) for each in HEADS_CHINESE)],
)
def test_a_mail_with_its_head_is_not_the_users(head: str, body: str, before: str, gap: str) -> None:
    """With or without a blank line behind the head, and in any order of its headers."""
    text = f"{before}{head}{gap}{body}"

    assert [] == homes_in(text)
    assert any(start <= text.index(body) < end for start, end in foreign_spans(text))


@pytest.mark.parametrize(
    ("text", "home"),
    [*((each, "Pisa") for each in NOTES), *((each, "比萨") for each in NOTES_CHINESE)],
)
def test_a_note_that_begins_like_a_header_is_the_users(text: str, home: str) -> None:
    """One header without an address, an event's time, a draft of one's own."""
    assert [home] == homes_in(text)


def test_two_headers_are_needed_in_the_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the check of the head is left out, and a mail is taken for the user's."""
    monkeypatch.setattr(mail_heads, "is_mail_head", lambda _: False)

    assert ["Pisa"] == homes_in(f"{HEADS[0]}\n{BODY}")


def test_a_mail_between_rules_ends_at_the_rule() -> None:
    text = f"---\nSubject: hello\nFrom: The Bank\nI live in Oslo.\n---\n{BODY}"

    assert ["Pisa"] == homes_in(text)


@pytest.mark.parametrize("piece", ["Subject: ", "From:\n", "a@", "\n ", "From: a@b "])
def test_long_heads_are_read_in_time(piece: str) -> None:
    began_s = time.process_time()
    foreign_spans((piece * 50_000)[:100_000])

    assert time.process_time() - began_s < 2.0
