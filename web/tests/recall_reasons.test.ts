import { describe, expect, it } from "vitest";
import type { Memory, RecallAnswer, RecallEntry } from "../src/api/shapes";
import { verdictOn, whyAbove } from "../src/lib/recall_reasons";
import { addressOf, bodyOf, settingsIn } from "../src/lib/recall_settings";

const signal = (name: string, part: number) => ({ name, part, z: 0, weight: 0 });
const entry = (key: string, more: Partial<RecallEntry> = {}): RecallEntry => ({ kind: "memory", type: "Note", key, text: key, time: "", score: 1, relevance: 0.5, signals: [], tokens: 5, ...more });
const answer = (entries: RecallEntry[], dropped: RecallEntry[] = []): RecallAnswer => ({ query: "q", entries, dropped, tokens: 0, partial: false, ms: 1 });
const memory = (more: Partial<Memory>): Memory => ({ state: "active", created_at: "2026-01-01T00:00:00Z", valid_from: null, valid_until: null, ...more }) as Memory;
const NOW = Date.parse("2026-06-01T00:00:00Z");
const asked = settingsIn(new URLSearchParams("q=x"));

describe("why one entry is above another", () => {
  it("is told by the signals that differ most", () => {
    const why = whyAbove({ score: 2, signals: [signal("dense", 1.2), signal("entry", 0.9), signal("age", -0.1)] }, { score: 1.5, signals: [signal("dense", 0.4), signal("entry", 1.1)] });
    expect(why.by).toBeCloseTo(0.5);
    expect(why.leads.map((each) => each.name)).toEqual(["dense"]);
    expect(why.against.map((each) => each.name)).toEqual(["entry"]);
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
