"""Faults put into the page's code: each must make a test of its pure parts fail."""

from __future__ import annotations

import shutil
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.page.conftest import Walks

ROOT: Final = Path(__file__).parents[2]
WEB: Final = ROOT / "web"
TEST_S: Final = 120


class Fault(NamedTuple):
    """A fault: in which module, in place of what, and which test has to find it."""

    module: str
    right: str
    wrong: str
    test: str


FAULTS: Final = (
    Fault("lib/bulk.ts", "if (part.length > 1) rest", "if (part.length > 2) rest", "bulk"),
    Fault("lib/bulk.ts", 'each.state === "quarantined"', "true", "bulk"),
    Fault("lib/undo_tokens.ts", "tokens.at(-1)", "tokens.at(0)", "bulk"),
    Fault("lib/bulk.ts", "if (!isOfPart(error)) {", "if (false) {", "bulk"),
    Fault("lib/listing.ts", "total / PART) - 1", "total / PART)", "listing"),
    Fault("parts/virtual_rows.tsx", "Math.min(count - 1", "Math.min(count", "listing"),
    Fault("lib/time.ts", "!Number.isNaN(Date.parse(given))", "true", "listing"),
    Fault("lib/graph_groups.ts", "x += group.width + MARGIN", "x += 0", "graph_view"),
    Fault("lib/crowd_layout.ts", "CHARGE = -95", "CHARGE = 95", "graph_picture"),
    Fault(
        "lib/crowd_layout.ts", "(GRAVITY * heat) / shape", "GRAVITY * heat * shape", "graph_picture"
    ),
    Fault("lib/graph_labels.ts", "|| one.rank - other.rank", "", "graph_picture"),
    Fault("lib/graph_camera.ts", "kept.x - (at.x - ", "kept.x + (at.x - ", "graph_picture"),
    Fault("lib/graph_scene.ts", "edge.from <= edge.to ? beside", "true ? beside", "graph_picture"),
    Fault("lib/time.ts", ".filter(Boolean).sort()", ".filter(Boolean)", "listing"),
    Fault("lib/past.ts", "each.state !== then.state", "true", "past"),
    Fault("lib/answer_sources.ts", "&& nameDigest(each.key) === key", "", "answer_sources"),
    Fault(
        "lib/answer_sources.ts",
        "isQuoted: quoted }] : []",
        "isQuoted: false }] : []",
        "answer_sources",
    ),
    Fault("lib/answer_sources.ts", "then.sentence !== now.sentence", "false", "answer_sources"),
    Fault("lib/taken_back.ts", "stored.some(isThere)", "stored.every(isThere)", "taken_back"),
    Fault("lib/taken_back.ts", " && !isRedo", "", "taken_back"),
    Fault("lib/past.ts", "each.version > version &&", "", "past"),
    Fault("lib/route.ts", "{ ...carried, ...extra }", "extra", "place"),
    Fault("lib/route.ts", "location.hash === shown().hash) {", "true) {", "route"),
    Fault("lib/route.ts", "() => shown().route)", "() => routeOf(location.hash))", "route"),
    Fault("lib/route.ts", "location.hash = concealed(link)", "location.hash = link", "sought"),
    Fault("lib/route.ts", 'replaceState(null, "", hash)', 'replaceState(null, "", "")', "sought"),
    Fault("lib/sought.ts", "listenToErasures(forgetSought);", "", "sought"),
    Fault("lib/sought.ts", "if (!words.length) return link", "return link", "sought"),
    Fault("lib/sought.ts", "find((each) => all[each] === words)", "find(() => false)", "sought"),
    Fault("lib/changes.ts", "feeds.get(subject) ?? ", "", "changes"),
    Fault("lib/changes.ts", "if (document.hidden) stop.abort();", "", "changes"),
    Fault("lib/changes.ts", "clearTimeout(feed.closing);", "", "changes"),
    Fault("lib/changes.ts", "if (isBehind) tell();", "", "changes"),
    Fault("lib/changes.ts", "isAway(error) ? () => wake() : null", "() => wake()", "changes"),
    Fault("lib/changes.ts", " && !isOpened", "", "changes"),
    Fault("lib/changes.ts", 'addEventListener("offline", reach.doubt);', "", "changes"),
    Fault(
        "lib/changes.ts", "    stop.abort();\n    wake();\n  };\n  doc", "  };\n  doc", "changes"
    ),
    Fault("lib/reach.ts", "      if (isThere) return;\n      this.stand", "this.stand", "reach"),
    Fault("lib/changes.ts", "stop.signal, last,", 'stop.signal, "",', "changes"),
    Fault("lib/changes.ts", 'if (event.event === "reset") void', "if (false) void", "changes"),
    Fault(
        "lib/recall_reasons.ts",
        "= rounded(upper.score) -",
        "= rounded(upper.score) +",
        "recall_reasons",
    ),
    Fault("lib/recall_reasons.ts", "- (below.get", "+ (below.get", "recall_reasons"),
    Fault(
        "lib/recall_reasons.ts", ".slice(0, Math.abs(missing))", ".slice(0, 0)", "recall_reasons"
    ),
    Fault("lib/recall_reasons.ts", "/ sum) * length", "/ score) * length", "recall_reasons"),
    Fault("lib/recall_reasons.ts", '=== "quarantined"', '=== "active"', "recall_reasons"),
    Fault("lib/recall_settings.ts", "`${side}${name}`)", "name)", "recall_reasons"),
    Fault("lib/import_forms.ts", "each === from[at]", "true", "import_forms"),
    Fault("lib/import_queue.ts", "if (this.isBusy) return;", "", "import_queue"),
    Fault("lib/import_queue.ts", "if (canPass(error)) for", "if (false) for", "import_queue"),
    Fault("lib/import_queue.ts", "if (canPass(error)) for", "for", "import_queue"),
    Fault("lib/import_queue.ts", ": canGoOn(each)) &&", ": true) &&", "import_queue"),
    Fault("lib/import_queue.ts", "if (signal.aborted) return", "if (false) return", "import_queue"),
    Fault(
        "lib/import_queue.ts",
        '=== "going") this.stopping',
        '=== "done") this.stopping',
        "import_queue",
    ),
    Fault("lib/reach.ts", "        this.look();\n", "", "reach"),
    Fault("lib/reach.ts", "Math.min(this.wait_ms * 2, LOOK_MS_MAX)", "this.wait_ms", "reach"),
    Fault("lib/reach.ts", "      if (this.isNeeded()) return;", "      return;", "reach"),
    Fault("lib/reach.ts", '|| this.state === "away"', "", "reach"),
    Fault("lib/reach.ts", 'if (isSteady) this.stand("asked");', 'this.stand("asked");', "reach"),
    Fault("lib/reach.ts", "look !== this.looks || ", "", "reach"),
    Fault("lib/reach.ts", "this.look((this.wait_ms = LOOK_MS));", "this.look();", "reach"),
    Fault("lib/key_handover.ts", '&& this.source() === "address") this', ") this", "key_handover"),
    Fault("lib/key_handover.ts", "!this.isRefused && ", "", "key_handover"),
    Fault("lib/key_handover.ts", "if (!this.isWilling()) return;", "", "key_handover"),
    Fault(
        "lib/key_handover.ts", "if (!key || key === this.place.key())", "if (!key)", "key_handover"
    ),
    Fault("lib/sign_in.ts", "&& !signInOf(before) ", "", "sign_in"),
    Fault("lib/evidence.ts", "if (!FORMED.test(revision.cause)) return [];", "", "told"),
    Fault("lib/erase_reach.ts", "if (effects.length > 1) total", "if (false) total", "erase_reach"),
    Fault("lib/erase_reach.ts", 'if (together === "goes" &&', "if (false &&", "erase_reach"),
    Fault("lib/undone_changes.ts", "each.version !== 1", "true", "undone_changes"),
    Fault("lib/kept_changes.ts", "noteUndone(change.memories);", "", "undone_changes"),
    Fault("lib/kept_changes.ts", "  forgetUndoneIn(scope);\n", "", "undone_changes"),
    Fault("lib/kept_changes.ts", "changedSince.has(each)", "false", "kept_changes"),
    Fault("lib/kept_changes.ts", "tokens.length === 1 || names", "true || names", "kept_changes"),
    Fault("lib/learnt.ts", "one.version - other", "other.version - one", "learnt"),
    Fault("lib/learnt.ts", "cited.thread === thread &&", "", "learnt"),
    Fault("lib/passages.ts", "1 / said.filter", "1 || said.filter", "passages"),
    Fault("lib/passages.ts", "from < IN_SIGHT", "true", "passages"),
    Fault("lib/one_after_another.ts", "memory.version + chainOf", "chainOf", "one_after_another"),
    Fault("lib/outbox.ts", "isUnsure && readAt <= failedAt", "isUnsure", "outbox"),
    Fault("lib/reach.ts", 'error.code === "" && AWAY', "AWAY", "reach"),
    Fault("lib/erase_reach.ts", "taken === evidence.length", "true", "erase_reach"),
    Fault("lib/erase_reach.ts", "message.thread === cited.thread &&", "", "erase_reach"),
    Fault("lib/erase_reach.ts", "memories + revised ===", "memories ===", "erase_reach"),
    Fault("lib/route_names.ts", "?? each.summary", "", "route_names"),
    Fault("lib/erase_plan.ts", "threads.delete(thread);", "", "erase_reach"),
    Fault("lib/erase_plan.ts", "[id, ...ids", "[...ids", "erase_reach"),
    Fault("lib/api_document.ts", r"""replaceAll("'", "'\\''")""", "slice()", "api_document"),
    Fault("lib/diff.ts", "shared < SHARED_MIN * fewer", "false", "diff"),
    Fault("lib/evidence.ts", " || freshEvidence(version, before).length", "", "told"),
    Fault("lib/rich_text.ts", r"""|$(?![\s\S]))/m""", ")/m", "rich_text"),
    Fault("lib/overview.ts", "one.type.localeCompare(other.type) || ", "", "overview"),
    Fault("lib/causes.ts", "told: isField ? t(", "told: false ? t(", "told"),
    Fault("lib/causes.ts", "words ?? reason })", "reason })", "told"),
    Fault("lib/search_words.ts", "sought.some(", "sought.every(", "search_words"),
    Fault(
        "lib/search_words.ts",
        "const isIdeographic =",
        "const isIdeographic = false &&",
        "search_words",
    ),
    Fault("words/zh_hant.ts", '  again: "重試",\n', "", "words"),
    Fault("words/zh_hant.ts", "已復原：", "已撤回：", "words"),
    Fault("words/zh_hant.ts", "已復原：", "已复原：", "words"),
    Fault("words/zh.ts", '  again: "重试",\n', "", "words"),
    Fault("words/zh_hant_types.ts", '["Fact", "事實"]', '["Facts", "事實"]', "words"),
    Fault("words/index.ts", "isLateWanted ? loadLateOf(language) : undefined", "undefined", "told"),
    Fault("screens/chat.tsx", 't("chat.new")', 't("memory.why")', "words"),
    Fault("words/index.ts", r"|^zh-(tw|hk|mo)\b", "", "words"),
    Fault("words/index.ts", r"/^zh\b/", "/^zh/", "words"),
    Fault("words/index.ts", r"/-hant\b|", "/", "words"),
    Fault("lib/refusals.ts", "refusal.${code}", "refusal.quota", "refusals"),
    Fault("lib/import_refusals.ts", "known.places.push(place)", "known.places.length", "refusals"),
    Fault("lib/refusals.ts", "Math.ceil(value)", "Math.floor(value)", "refusals"),
    Fault("api/problem.ts", "told.facts ? {", "false ? {", "refusals"),
    Fault("lib/session.tsx", "if (reason) return reason;", "", "refusals"),
    Fault("lib/kept_changes.ts", "left.version === memory.version &&", "", "kept_changes"),
    Fault("lib/kept_changes.ts", "isRefused(error) ? ", "false ? ", "kept_changes"),
    Fault("lib/kept_changes.ts", "Date.now() < until", "true", "kept_changes"),
    Fault("lib/kept_changes.ts", "{ ...change, tokens }", "{ ...change }", "kept_changes"),
    Fault("lib/one_after_another.ts", " && isSamePlace(one, other)", "", "one_after_another"),
    Fault("lib/one_after_another.ts", "if (isOver(each, now)) open", "open", "one_after_another"),
    Fault("lib/written_here.ts", "each.sentence === sentence && ", "", "written_here"),
    Fault("lib/audit_words.ts", "count: ids.length", "count: 1", "audit_words"),
    Fault("lib/graph_labels.ts", "!taken.some(", "taken.some(", "graph_picture"),
    Fault("lib/counts.ts", "all.total - inForce.total", "all.total", "overview"),
    Fault(
        "lib/counts.ts", "total - active - later - waiting - rejected", "total - active", "overview"
    ),
    Fault("lib/days.ts", "isWholeDay(moment) ? calendar : here", "here", "days"),
    Fault("lib/recall_reasons.ts", " && apart(each) > 0", "", "recall_reasons"),
    Fault("lib/recall_reasons.ts", "floor > 0 || ", "", "recall_reasons"),
    Fault("lib/recall_reasons.ts", '["repeats", "empty"] as', '["repeats"] as', "recall_reasons"),
    Fault("lib/receipts.ts", "FOLDED_FROM = 3", "FOLDED_FROM = 2", "failures"),
    Fault("lib/receipts.ts", "receipt.reason?.trim()", "receipt.reason", "failures"),
    Fault("lib/import_queue.ts", 'taken ? "import.taken" : ', "", "import_queue"),
    Fault("lib/kept_talks.ts", "read?.length === count && read", "read", "kept_talks"),
    Fault("lib/kept_talks.ts", " && read.at(-1)?.position === last", "", "kept_talks"),
    Fault("late.css", ".jobs { display: grid;", ".turn { display: grid;", "styles"),
    Fault("lib/told_sentences.ts", '.split(" or ")', '.split(" nor ")', "told_sentences"),
    Fault("lib/former_fields.ts", " && each !== value", "", "former_fields"),
    Fault("lib/former_fields.ts", '?.cause !== "undone"', '?.cause !== ""', "former_fields"),
    Fault("words/zh_hant.ts", 'recall: "召回"', 'recall: "回想"', "words"),
    Fault("lib/erase_plan.ts", "typed.trim().", "typed.", "erase_reach"),
    Fault("lib/past.ts", "!revision || pairsOf", "!revision && pairsOf", "past"),
    Fault("lib/told_apart.ts", "?? 0) > 1", "?? 0) > 0", "told_apart"),
    Fault("lib/undo.ts", "return agrees() ? change(false) : null", "return change(false)", "undo"),
    Fault("lib/owned_shelf.ts", "JSON.stringify([store, ", "JSON.stringify([", "owned_shelf"),
    Fault("lib/owned_shelf.ts", "prefix ?? scope]", "scope]", "owned_shelf"),
    Fault("lib/owned_shelf.ts", "|| read.who !== who()", "", "owned_shelf"),
    Fault(
        "lib/owned_shelf.ts",
        "clear: (name) => shelf.set(name, null)",
        "clear: () => {}",
        "owned_shelf",
    ),
    Fault("lib/overview_changes.ts", "updated_at) <= now ?", "updated_at) > now ?", "overview"),
    Fault("lib/waiting.ts", 'state !== "rejected" || typeof pointer', "typeof pointer", "waiting"),
    Fault("lib/waiting.ts", 'memory.state !== "active" && ', "", "waiting"),
    Fault("lib/proposal_question.ts", "changes.length === 1 && only", "only", "waiting"),
    Fault("lib/choice_titles.ts", ": shortened(sentence)", ": key", "choice_titles"),
    Fault("lib/import_queue.ts", "slice(0, REPORTS_MAX)", "slice()", "import_queue"),
    Fault(
        "lib/recall_reasons.ts",
        "[...telling, ...longest.filter(",
        "[...longest.filter(",
        "recall_reasons",
    ),
    Fault(
        "lib/overview_changes.ts", 'each.kind === "changed" ? [shown', "true ? [shown", "overview"
    ),
    Fault("lib/diff.ts", "|| (end > start &&", "|| (false &&", "diff"),
    Fault(
        "lib/one_after_another.ts",
        "formerOf(each, memories).length > 0 && ",
        "",
        "one_after_another",
    ),
    Fault("lib/overview_changes.ts", "...(prefix ?? scope), ...here", "...here", "overview"),
    Fault(
        "lib/reading_place.ts",
        'row.querySelector("mark") ?? row',
        "row",
        "reading_place",
    ),
    Fault("lib/reading_place.ts", "(box.clientHeight - words", "(words", "reading_place"),
    Fault("lib/reading_place.ts", "Math.max(0, (", "((", "reading_place"),
    Fault("lib/reading_place.ts", "if (target) return", "if (!target) return", "reading_place"),
    Fault("lib/reading_place.ts", " - top_px", "", "reading_place"),
    Fault("lib/reading_place.ts", "> ROUNDED_PX", "> 0", "reading_place"),
    Fault("lib/reading_place.ts", " < NEAR_END_PX", " < 0", "reading_place"),
    Fault(
        "lib/thread_titles.ts", "known?.gone === goneFrom(listed) ? ", "known ? ", "thread_titles"
    ),
    Fault("lib/thread_titles.ts", '=== "user") ??', '=== "none") ??', "thread_titles"),
    Fault("lib/last_thread.ts", "lastRead.get(scope)", "undefined", "last_thread"),
    Fault("lib/last_thread.ts", "(listed.some(", "(true || listed.some(", "last_thread"),
    Fault("lib/title.ts", "[short, screen,", "[screen, short,", "title"),
    Fault("lib/title.ts", "> WORDS_MAX ?", "> 2 * WORDS_MAX ?", "title"),
    Fault("lib/erased_drafts.ts", "repeats(text, erased) || ", "", "erased_drafts"),
    Fault("lib/erased_drafts.ts", "widthOf(each) >= WIDTH_MIN && ", "", "erased_drafts"),
    Fault("lib/erased_drafts.ts", "isGone(error) || Promise", "Promise", "erased_drafts"),
    Fault("lib/erased_drafts.ts", "?.version !== memory.version", " === null", "erased_drafts"),
    Fault("lib/erased_drafts.ts", "(of?.scope) === JSON", "(scope) === JSON", "erased_drafts"),
    Fault("lib/erased_kinds.ts", "acts.get(each.id) ?? each.id", "each.id", "audit_words"),
    Fault("lib/change_handover.ts", "key !== own.key", "false", "change_handover"),
    Fault("lib/change_handover.ts", "owner !== own.owner", "false", "change_handover"),
    Fault("lib/long_text.ts", "lines > LINES_MAX", "lines >= LINES_MAX", "long_text"),
    Fault("lib/replaced.ts", "former.has(pointer)", "false", "replaced"),
    Fault("lib/replaced.ts", "each.at === at", "true", "replaced"),
    Fault("lib/replaced.ts", "other.at !== field.at", "true", "replaced"),
    Fault("words/index.ts", "Math.ceil(seconds / size)", "Math.floor(seconds / size)", "refusals"),
)


def copied(folder: Path, fault: Fault) -> Path:
    """Return a copy of the page's source with a fault in it, beside the package's as it is here."""
    page = folder / "web"
    folder.mkdir()
    for name in ("src", "docs"):
        folder.joinpath(name).symlink_to(ROOT / name)
    for name in ("src", "tests"):
        shutil.copytree(WEB / name, page / name)
    for name in ("package.json", "tsconfig.json", "vite.config.ts"):
        shutil.copy(WEB / name, page / name)
    Path(page / "node_modules").symlink_to(WEB / "node_modules")
    module = page / "src" / fault.module
    source = module.read_text("utf-8")
    assert fault.right in source, f"{fault.module} has no {fault.right!r} any more"
    module.write_text(source.replace(fault.right, fault.wrong), "utf-8")
    return page


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.module} {fault.right}")
def test_every_fault_is_found(walks: Walks, tmp_path: Path, fault: Fault) -> None:
    """A test fails over it, and says so: not because nothing could be run."""
    command = [walks.node, "node_modules/vitest/vitest.mjs", "run", f"tests/{fault.test}.test.ts"]

    done = run(
        command, cwd=copied(tmp_path / "page", fault), capture_output=True, text=True,
        timeout=TEST_S, check=False,
    )  # fmt: skip

    told = done.stdout + done.stderr
    assert 1 == done.returncode, told
    assert "FAIL" in told
    assert "failed" in told
