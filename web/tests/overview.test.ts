import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { Memory } from "../src/api/shapes";
import { countedOf, inForceOf, NO_COUNTS, NOTHING } from "../src/lib/counts";
import { gaveUp } from "../src/lib/given_up";
import { byType, changeOf, emptyWords, formationOf, lastDays, mainQuote, plotOf, quotesOf, whyBroken } from "../src/lib/overview";
import { isEnded, isLater } from "../src/lib/past";
import { changedAt, isExample, saidBefore } from "../src/lib/overview_changes";

const NOW = Date.parse("2026-05-10T12:00:00Z");
const memory = (key: string, more: Partial<Memory> = {}) => ({ type: "Fact", key, version: 1, state: "active", valid_from: null, valid_until: null, ...more }) as Memory;

describe("what is known", () => {
  it("is by type, and in the order of the days that stand beside it", () => {
    const on = (key: string, updated_at: string, more: Partial<Memory> = {}) => memory(key, { updated_at, ...more });
    const all = [on("written last", "2026-05-09T00:00:00Z", { valid_from: "2026-01-01T00:00:00Z" }), on("said last", "2026-05-01T00:00:00Z"), on("before", "2026-04-01T00:00:00Z")];
    expect(byType(all).map((each) => each.key)).toEqual(["said last", "before", "written last"]);
    const notes = [on("note", "2026-05-09T00:00:00Z", { type: "Note" }), on("fact", "2026-05-01T00:00:00Z")];
    expect(byType(notes).map((each) => each.key)).toEqual(["fact", "note"]);
  });
});

describe("what became of a memory", () => {
  it("is one word: it waits, ended, is new or changed", () => {
    expect(changeOf(memory("a"), NOW)).toBe("new");
    expect(changeOf(memory("a", { version: 2 }), NOW)).toBe("changed");
    expect(changeOf(memory("a", { version: 2, valid_until: "2026-05-10T12:00:00Z" }), NOW)).toBe("ended");
    expect(changeOf(memory("a", { version: 2, valid_until: "2026-05-10T12:00:01Z" }), NOW)).toBe("changed");
    expect(changeOf(memory("a", { state: "quarantined" }), NOW)).toBe("waits");
  });
});

describe("how formation is", () => {
  const backlog = (more = {}) => ({ pending: [], paused: false, breaker: { open: false }, ...more }) as never;
  const last = (status: string) => ({ status }) as never;
  it("says why the model is not asked, as far as that is told", () => {
    expect([{ open: true, reason: "connection refused" }, { open: true, reason: "" }, { open: true }, "open", null].map(whyBroken)).toEqual(["connection refused", "", "", "", ""]);
  });

  it("tells what hinders it before what it does", () => {
    expect(formationOf(backlog({ paused: true }), undefined, [], false)).toBe("no_model");
    expect(formationOf(backlog({ paused: true, breaker: { open: true } }), undefined, [], true)).toBe("paused");
    expect(formationOf(backlog({ breaker: { open: true } }), undefined, [], true)).toBe("waits_model");
    expect(formationOf(backlog({ pending: [{ attempts: 1 }] }), last("formed"), [], true)).toBe("failing");
    expect(formationOf(backlog({ pending: [{ attempts: 0 }] }), last("formed"), [], true)).toBe("waiting");
    expect(formationOf(backlog(), last("formed"), [], true)).toBe("done");
    expect(formationOf(backlog(), undefined, [], true)).toBe("none");
  });

  it("does not say that all is formed while messages are given up, until they are tried again or erased", () => {
    const dead = (status: string, failed: Record<string, number[]>) => ({ status, failed }) as never;
    expect(formationOf(backlog(), last("formed"), [dead("dead", { talk: [1] })], true)).toBe("given_up");
    expect(formationOf(backlog({ pending: [{ attempts: 1 }] }), last("formed"), [dead("dead", { talk: [1] })], true)).toBe("given_up");
    expect(formationOf(backlog(), last("formed"), [dead("redriven", { talk: [1] })], true)).toBe("done");
    expect(formationOf(backlog(), last("formed"), [dead("dead", {})], true)).toBe("done");
    expect([gaveUp(dead("dead", { talk: [1] }), "talk"), gaveUp(dead("dead", { talk: [1] }), "other")]).toEqual([true, false]);
  });
});

describe("numbers over time", () => {
  it("have every day up to today, also those of which nothing is told", () => {
    expect(lastDays([{ day: "2026-05-09", counts: { recalls: 3 } }], "recalls", 3, NOW)).toEqual([
      { day: "2026-05-08", value: 0 }, { day: "2026-05-09", value: 3 }, { day: "2026-05-10", value: 0 },
    ]);
  });

  it("are a line within its box", () => {
    expect(plotOf([0, 2, 1], 100, 20)).toEqual({ line: "M0 19L50 1L100 10", area: "M0 19L50 1L100 10L100 20L0 20Z" });
    expect(plotOf([], 100, 20)).toEqual({ line: "", area: "" });
    expect(plotOf([0, 0], 100, 20).line).toBe("M0 19L100 19");
  });
});

test("memories in force are counted, and beside them those that have ended", () => {
  const counts = (total: number, types: Record<string, number>) => ({ ...NOTHING, total, types });
  expect(inForceOf(counts(6, { Note: 2, Fact: 4, User: 0 }), counts(10, { Note: 2, Fact: 7, Old: 1, User: 0 }))).toEqual({ total: 6, ended: 4, later: 0, types: [{ type: "Fact", count: 4 }, { type: "Note", count: 2 }] });
  expect(inForceOf(NOTHING, NOTHING)).toEqual(NO_COUNTS);
  expect(inForceOf(counts(6, {}), counts(10, {}), 1)).toMatchObject({ total: 6, ended: 3, later: 1 });
});

test("the list counts as the overview does: what has ended, waits or was rejected is no memory beside them", () => {
  const listed = { total: 19, states: { active: 16, quarantined: 2, rejected: 1 } };
  expect(countedOf(listed, "", 13)).toEqual([["memories.total", 13], ["overview.ended_count", 3], ["memories.waiting_count", 2], ["memories.rejected_count", 1]]);
  expect(countedOf({ ...listed, total: 16 }, "active", 13)).toEqual([["memories.total", 13], ["overview.ended_count", 3]]);
  expect(countedOf({ ...listed, total: 16 }, "active", 13, 2)).toEqual([["memories.total", 13], ["overview.ended_count", 1], ["memories.later_count", 2]]);
  expect(countedOf({ ...listed, total: 2 }, "quarantined", 13, 2)).toEqual([["memories.waiting_count", 2]]);
  expect(countedOf({ ...listed, total: 2 }, "quarantined", 13)).toEqual([["memories.waiting_count", 2]]);
  expect(countedOf({ total: 3, states: { active: 3 } }, "", 0)).toEqual([["overview.ended_count", 3]]);
  expect(countedOf({ total: 0, states: {} }, "", 0)).toEqual([["memories.total", 0]]);
});

test("what begins later is not yet true, unless only the clocks differ", () => {
  const at = (ms: number) => memory("a", { valid_from: new Date(NOW + ms).toISOString() });
  expect([-1, 0, 30_000, 61_000].map((ms) => isLater(at(ms), NOW))).toEqual([false, false, false, true]);
  expect(isLater(memory("a", { valid_from: null }), NOW)).toBe(false);
});

test("what is over no longer counts", () => {
  expect(isEnded(memory("a", { valid_until: "2026-05-10T12:00:00Z" }), NOW)).toBe(true);
  expect(isEnded(memory("a", { valid_until: "2026-05-10T12:00:01Z" }), NOW)).toBe(false);
  expect(isEnded(memory("a"), NOW)).toBe(false);
});

describe("the words below what is known", () => {
  const fields = { "/subject": "I am Mira", "/object": "we are in Porto" };
  const quotes = [{ type: "Fact", key: "home", fields }];

  it("are those of the memory, and none where none came", () => {
    expect(quotesOf(quotes, { type: "Fact", key: "home" })).toBe(fields);
    expect(quotesOf(quotes, { type: "Note", key: "home" })).toEqual({});
  });

  it("are those of what is said of a subject, else of the first field", () => {
    expect(mainQuote(fields, { value: { subject: "Mira", predicate: "lives in", object: "Porto" } })).toBe("we are in Porto");
    expect(mainQuote({ "/a~1b": "so I said" }, { value: { "a/b": "so", other: 1 } })).toBe("so I said");
    expect(mainQuote({ "/subject": "I am Mira" }, { value: { subject: "Mira", object: "Braga" } })).toBeUndefined();
    expect(mainQuote({}, { value: {} })).toBeUndefined();
  });
});

test("a change is told with a time of the day that is looked at, or before", () => {
  const late = memory("a", { updated_at: "2026-06-01T00:00:00Z", said_at: "2026-05-02T00:00:00Z" });
  expect(changedAt(late, NOW)).toBe("2026-05-02T00:00:00Z");
  expect(changedAt({ ...late, updated_at: "2026-05-09T00:00:00Z" }, NOW)).toBe("2026-05-09T00:00:00Z");
});

test("what a fact said before it was corrected is what its last change took out", () => {
  const lives = (object: string) => ({ subject: "Mira", predicate: "lives in", object });
  const home = memory("home", { value: lives("Lyon") });
  const newest = [{ memory: home, former: lives("Porto") }, { memory: memory("cat"), former: null }];
  expect(saidBefore(newest, home)).toBe("Porto");
  expect(saidBefore(newest, memory("cat", { value: {} }))).toBe("");
  expect(saidBefore([{ memory: home, former: lives("Lyon") }], home)).toBe("");
  expect(saidBefore([{ memory: home, former: { ...lives("Lyon"), note: "by the river" } }], home)).toBe("");
});

test("the example is told as that, from whichever scope its key looks at it", () => {
  expect(isExample({ prefix: ["demo", "mira"], scope: [] }, [])).toBe(true);
  expect(isExample({ prefix: ["demo"], scope: [] }, ["mira"])).toBe(true);
  expect(isExample({ prefix: ["demo"], scope: [] }, ["ada"])).toBe(false);
});

test("an empty scope proposes steps only to a key that may write, and says that scopes below may be more", () => {
  expect(emptyWords(0, true)).toEqual({ about: "overview.none_about", more: undefined, hasSteps: true });
  expect(emptyWords(0, false)).toEqual({ about: "memories.none_read", more: undefined, hasSteps: false });
  expect(emptyWords(11, false)).toEqual({ about: "overview.none_here", more: undefined, hasSteps: false });
  expect(emptyWords(12, true).more).toBe("overview.below_more");
});

test("the page expects as many scopes below as the service names at most", () => {
  const route = readFileSync(join(import.meta.dirname, "../../src/recollect/server/routes/overview.py"), "utf8");
  const most = Number(/^BELOW: Final = (\d+)$/m.exec(route)?.[1]);
  expect([emptyWords(most - 1, true).more, emptyWords(most, true).more]).toEqual([undefined, "overview.below_more"]);
});
