"""Quotations of memories and messages in the answers of the rule model, with their dates."""

from __future__ import annotations

import re
from datetime import date

from recollect.formation.field_names import spoken_field
from recollect.formation.remembered_lines import RememberedLine, day_in
from recollect.text.rule_replies import SENTENCES, Language
from recollect.text.terms import MONTHS


def gap(language: Language) -> str:
    """Return what stands between two sentences."""
    return " " if language == "en" else ""


def quote_with_date(line: RememberedLine, language: Language) -> str:
    """Return the sentence that quotes a line, with its date."""
    quote = quote_of_line(line, language)
    if line.is_memory:
        return sentence_of_reply("memory", language, quote=quote, when=time_of_line(line, language))
    on = day_of_reply(line.day, language)
    if on:
        on = f" on {on}" if language == "en" else f"在{on}"
    who = "assistant" if line.speaker == "assistant" else "user"
    return sentence_of_reply(who, language, quote=quote, on=on)


def sentence_of_reply(name: str, language: Language, **values: str) -> str:
    """Return a sentence with its values, which are never read as templates."""
    template = SENTENCES[language][name]
    return re.sub(r"\{(\w+)\}", lambda place: values[place[1]], template)


def quote_of_talk(quote: str, language: Language) -> str:
    """Return the sentence that quotes what the user said in this talk."""
    return sentence_of_reply("told_here", language, quote=quote).strip()


def quote_of_line(line: RememberedLine, language: Language) -> str:
    """Return a line in quotation marks, a field by its spoken name."""
    return quoted(spoken_field(line.text, language) if line.field else line.text, language)


def quoted(text: str, language: Language) -> str:
    """Return *text* in quotation marks, without the stop at its end."""
    text = text.rstrip("。. ")  # the sentence around it has its own end
    return f"「{text}」" if language == "zh-hant" else f"“{text}”"


def time_of_line(line: RememberedLine, language: Language) -> str:
    """Return in brackets since when, until when, or on which day it is so."""
    # "plans to move on 29 March (18 March)": two dates, and only the first one answers.
    if line.day is None or (not line.tense and day_in(line.text)):
        return ""
    day, begun = day_of_reply(line.day, language), day_of_reply(line.begun, language)
    if language == "en":
        return f" ({' '.join(filter(None, (begun, line.tense, day)))})"
    written = {"since": f"自{day}", "until": f"{begun}至{day}", "": day}[line.tense]
    return f"（{written}）"


def day_of_reply(day: date | None, language: Language) -> str:
    """Return a day as it is spoken; empty for none."""
    if day is None:
        return ""
    if language == "en":
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    return f"{day.year}年{day.month}月{day.day}日"
