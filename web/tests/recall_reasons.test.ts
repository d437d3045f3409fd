import { describe, expect, it } from "vitest";
import type { Memory, RecallAnswer, RecallEntry } from "../src/api/shapes";
import { barOf, isClear, legendOf, middleParts, placesText, sharedSignals, shownParts, tellingParts, verdictOn, whyAbove } from "../src/lib/recall_reasons";
import { addressOf, bodyOf, settingsIn } from "../src/lib/recall_settings";

const signal = (name: string, part: number) => ({ name, part, z: 0, weight: 0 });
const entry = (key: string, more: Partial<RecallEntry> = {}): RecallEntry => ({ kind: "memory", type: "Note", key, text: key, time: "", score: 1, relevance: 0.5, signals: [], tokens: 5, ...more });
const answer = (entries: RecallEntry[], dropped: RecallEntry[] = []): RecallAnswer => ({ query: "q", entries, dropped, tokens: 0, partial: false, ms: 1 });
const memory = (more: Partial<Memory>): Memory => ({ state: "active", created_at: "2026-01-01T00:00:00Z", valid_from: null, valid_until: null, ...more }) as Memory;
const NOW = Date.parse("2026-06-01T00:00:00Z");
const asked = settingsIn(new URLSearchParams("q=x"));

describe("a score as it is shown", () => {
  it("is the sum of its parts as they are shown", () => {
    const one = { score: 2.5445, signals: [["entry", 0.2094], ["window", 0.1924], ["session", 0.1541], ["speaker", 1], ["dense", 0.7642], ["session_dense", 0.2244]].map(([name, part]) => signal(name as string, part as number)) };
    const { score, parts } = shownParts(one);
    expect(score).toBe(254);
    expect(parts.reduce((sum, each) => sum + each, 0)).toBe(254);
    parts.forEach((each, place) => expect(Math.abs(each - (one.signals[place]?.part ?? 0) * 100)).toBeLessThan(1));
    expect(parts[3]).toBe(100);
    const less = shownParts({ score: 0.98, signals: [signal("dense", 0.497), signal("entry", 0.4955), signal("age", -0.012)] });
    expect(less).toEqual({ score: 98, parts: [50, 49, -1] });
  });

  it("is left alone where a reranker gave it", () => {
    expect(shownParts({ score: 0.9, signals: [signal("dense", 0.4), signal("entry", 0.1)] })).toEqual({ score: 90, parts: [40, 10] });
  });

  it("is as long as a bar, whatever speaks against the entry", () => {
    const length = (entry: { score: number; signals: { name: string; part: number; z: number; weight: number }[] }) => barOf(entry, 2).reduce((sum, each) => sum + each.share, 0);
    expect(length({ score: 2, signals: [signal("dense", 1.5), signal("entry", 0.5)] })).toBeCloseTo(1);
    expect(length({ score: 1, signals: [signal("dense", 1.5), signal("entry", 0.5), signal("age", -1)] })).toBeCloseTo(0.5);
    expect(length({ score: -1, signals: [signal("dense", 0.5), signal("age", -1.5)] })).toBe(0);
    expect(barOf({ score: 0, signals: [] }, 0)).toEqual([]);
  });
});

describe("why one entry is above another", () => {
  const speaker = signal("speaker", 1);
  const upper = { score: 2.5445, signals: [signal("dense", 0.7642), signal("session_dense", 0.2244), signal("entry", 0.4), signal("window", 0.1559), speaker] };
  const lower = { score: 2.2845, signals: [signal("dense", 0.24), signal("session_dense", 0.02), signal("entry", 0.5), signal("window", 0.2245), signal("personal", 0.3), speaker] };

  it("is told by what differs most, which adds up with all else", () => {
    const why = whyAbove(upper, lower);
    const cents = (value: number) => Math.round(value * 100);
    expect(why.by).toBeCloseTo(0.26);
    expect(why.shares.map((each) => each.name)).toEqual(["dense", "personal", "session_dense"]);
    expect(why.shares.reduce((sum, each) => sum + cents(each.part), cents(why.rest))).toBe(cents(why.by));
  });

  it("is not what speaks alike for both, or for all", () => {
    expect(whyAbove(upper, lower).shares.map((each) => each.name)).not.toContain("speaker");
    expect([...sharedSignals([upper, lower])]).toEqual(["speaker"]);
    expect([...sharedSignals([upper, { ...lower, signals: lower.signals.slice(0, -1) }])]).toEqual([]);
    expect(sharedSignals([upper]).size).toBe(0);
  });
});

describe("why an entry is missing", () => {
  const wide = answer([entry("a"), entry("b"), entry("c", { relevance: 0.1 })]);
  const on = (key: string, narrow: RecallAnswer, settings = asked, content?: Memory) => verdictOn({ ...entry(key), content }, settings, narrow, wide, NOW);

  it("is its rank, or what cut it off", () => {
    expect(on("a", answer([entry("a")]))).toEqual({ word: "here", rank: 1 });
    expect(on("b", answer([entry("a")]), { ...asked, limit: "1" })).toEqual({ word: "limit", rank: 2, limit: 1 });
    expect(on("b", answer([entry("a")], [entry("b", { reason: "limit" })]), { ...asked, limit: "1" })).toEqual({ word: "limit", rank: 2, limit: 1 });
    expect(on("b", answer([entry("a")], [entry("b", { reason: "budget", tokens: 70 })]))).toEqual({ word: "budget", tokens: 70 });
    expect(on("b", answer([entry("a")], [entry("b", { reason: "repeats" })]))).toEqual({ word: "repeats" });
    expect(on("b", answer([entry("a")], [entry("b", { reason: "empty" })]))).toEqual({ word: "empty" });
    expect(verdictOn(entry("b"), asked, answer([entry("a")]), answer([entry("a")], [entry("b", { reason: "empty" })]), NOW)).toEqual({ word: "empty" });
    expect(on("c", answer([entry("a")]), { ...asked, floor: "20" })).toEqual({ word: "floor", relevance: 0.1, floor: 0.2 });
  });

  it("is why it cannot be found at all", () => {
    const none = answer([]);
    expect(on("z", none, asked, memory({ state: "quarantined" })).word).toBe("waits");
    expect(on("z", none, asked, memory({ state: "rejected" })).word).toBe("rejected");
    expect(on("z", none, asked, memory({ valid_until: "2026-05-01T00:00:00Z" }))).toEqual({ word: "ended", at: "2026-05-01T00:00:00Z" });
    expect(on("z", none, { ...asked, on: "2026-04-01" }, memory({ valid_until: "2026-05-01T00:00:00Z" })).word).toBe("far");
    expect(on("z", none, asked, memory({ valid_from: "2026-07-01T00:00:00Z" })).word).toBe("later");
    expect(on("z", none, { ...asked, known: "2025-12-01" }, memory({})).word).toBe("unknown");
    expect(on("z", none, asked, memory({})).word).toBe("far");
    expect(verdictOn({ kind: "message", thread: "t", id: "m" }, { ...asked, among: "memories" }, none, none, NOW).word).toBe("messages");
  });
});

describe("two settings in one address", () => {
  it("are read apart, and what is usual is not named", () => {
    const query = new URLSearchParams("q=home&limit=3&side=1&b_q=boat&b_known=2026-01-01");
    expect(settingsIn(query)).toMatchObject({ q: "home", limit: "3", known: "" });
    expect(settingsIn(query, "b_")).toMatchObject({ q: "boat", limit: "12", known: "2026-01-01" });
    expect(addressOf(settingsIn(query, "b_"), "b_")).toEqual({ b_q: "boat", b_known: "2026-01-01" });
    expect(bodyOf({ ...asked, floor: "25" })).toMatchObject({ query: "x", min_score: 0.25, budget_tokens: 800, limit: 12, skip_question: true });
  });
});

describe("what tells an entry from the others", () => {
  const entry = (parts: Record<string, number>) => ({ score: Object.values(parts).reduce((sum, each) => sum + each, 0), signals: Object.entries(parts).map(([name, part]) => ({ name, part, z: part, weight: 1 })) });
  const entries = [entry({ speaker: 1, dense: 0.6 }), entry({ speaker: 1, dense: 0.2, entry: 0.5 }), entry({ speaker: 1, dense: 0.2 }), entry({ speaker: 0, dense: 0.2 })];
  const middle = middleParts(entries);

  it("stands first, and what most of them have alike does not stand at all", () => {
    const told = entries.map((each) => tellingParts(each, middle).map(({ name, part }) => `${name} ${part}`));
    expect(told).toEqual([["dense 60"], ["entry 50"], [], []]);
  });

  it("stands below the bar together with the longest parts of it, which the others may have alike", () => {
    const [, second = entry({})] = entries;
    expect(legendOf(second, middle).map((each) => each.name)).toEqual(["entry", "speaker"]);
    expect(legendOf(entry({ speaker: 1, dense: 0.2 }), middle).map((each) => each.name)).toEqual(["speaker", "dense"]);
    expect(legendOf(entry({ dense: 0, entry: -1 }), new Map())).toEqual([{ name: "entry", part: -100 }]);
  });

  it("begins the bar, too", () => {
    expect(entries.slice(0, 2).map((each) => barOf(each, 2, middle)[0]?.name)).toEqual(["dense", "entry"]);
  });

  it("is all of a single one", () => {
    const [single = entry({})] = entries;
    expect(tellingParts(single, middleParts([single])).map((each) => each.name)).toEqual(["speaker", "dense"]);
  });
});

describe("the places of what is folded", () => {
  it("stand beside those that are shown, so that no number is missing", () => {
    expect(placesText([1, 3, 4, 5, 6, 9])).toBe("1, 3–6, 9");
    expect(placesText([7, 8])).toBe("7–8");
    expect(placesText([])).toBe("");
  });
});

describe("an entry that only might bear on the question", () => {
  it("is one below the relevance from which a prompt is told anything, unless a floor was asked for", () => {
    const clear = (relevance: number, by: "vectors" | "words", floor = 0) => isClear({ relevance, signals: [] }, by, floor);
    expect([0.03, 0.02, 0.01].map((relevance) => clear(relevance, "vectors"))).toEqual([true, false, false]);
    expect([0.03, 0.02, 0.01].map((relevance) => clear(relevance, "words"))).toEqual([true, true, false]);
    expect(clear(0.001, "vectors", 0.0005)).toBe(true);
  });

  it("is no profile that has the field which a question about oneself asks for", () => {
    const personal = (part: number) => isClear({ relevance: 0.002, signals: [signal("speaker", 1), signal("personal", part)] }, "vectors", 0);
    expect([1.5, 0.3].map(personal)).toEqual([true, false]);
  });
});
