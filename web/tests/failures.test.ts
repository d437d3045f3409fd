import { describe, expect, it } from "vitest";
import { canPass, cut, garbled, isConflict, isGone, mayBeDone, Problem, unreachable } from "../src/api/problem";
import type { Formation, Memory, Revision } from "../src/api/shapes";
import { causeOf } from "../src/lib/deployment";
import { isEdited, isEnded, isRejected, isRestored, isSame } from "../src/lib/outcomes";
import { folded, formedBy, summaryOf, threadsOf } from "../src/lib/receipts";

const status = (code: number) => new Problem(code, "", "", "");

describe("a problem", () => {
  it("may pass where nobody has refused", () => {
    expect([unreachable(), cut(), garbled(200), status(429), status(503), new Error("?")].every(canPass)).toBe(true);
    expect([401, 403, 404, 409, 412, 413, 422].map(status).some(canPass)).toBe(false);
  });

  it("leaves open whether it was done, where no answer of the service came", () => {
    expect([unreachable(), cut(), garbled(200), status(500), status(504)].every(mayBeDone)).toBe(true);
    expect([401, 404, 412, 422, 429].map(status).some(mayBeDone)).toBe(false);
  });

  it("tells what is gone and what was changed", () => {
    expect([isGone(status(404)), isGone(unreachable()), isConflict(status(412)), isConflict(status(422))]).toEqual([true, false, true, false]);
  });
});

describe("a script that cannot be had", () => {
  const page = '<script type="module" src="./assets/index-NEW1.js"></script>';

  it("has the service away, another page there, or only this file missing", () => {
    expect(causeOf(null, "http://x/assets/index-OLD1.js")).toBe("unreachable");
    expect(causeOf(page, "http://x/assets/index-OLD1.js")).toBe("renewed");
    expect(causeOf(page, "http://x/p/assets/index-NEW1.js")).toBe("refused");
    expect(causeOf("<h1>Welcome</h1>", "http://x/assets/index-OLD1.js")).toBe("refused");
  });
});

describe("what a request whose answer was lost has done", () => {
  const before = { version: 3, state: "active", value: { home: "Lisbon", age: 3 }, valid_until: null, evidence: { "/home": [{ thread: "t", message: "m" }] } } as unknown as Memory;
  const now = (part: Partial<Memory>): Memory => ({ ...before, version: 4, ...part });

  it("is seen in the next version, and in no later one", () => {
    expect(isRejected(before, now({ state: "rejected" }), "")).toBe(true);
    expect(isRejected(before, now({ state: "rejected", version: 5 }), "")).toBe(false);
    expect(isRejected(before, now({ value: { age: 3 } }), "/home")).toBe(true);
    expect(isRejected(before, now({}), "/home")).toBe(false);
    expect(isEnded(before, now({ valid_until: "2026-01-01T00:00:00Z" }), "2026-01-01T00:00:00.000Z")).toBe(true);
    expect(isEdited(before, now({ value: { age: 3, home: "Porto" } }), { home: "Porto", age: 3 })).toBe(true);
  });

  it("is seen in the cause of the next version, where one was restored", () => {
    const revisions = [{ version: 3, cause: "put" }, { version: 4, cause: "restored 1" }] as Revision[];
    expect(isRestored(before, revisions, 1)).toBe(true);
    expect(isRestored(before, revisions, 2)).toBe(false);
    expect(isRestored(before, [...revisions, { version: 5, cause: "put" } as Revision], 1)).toBe(false);
  });

  it("is compared by value, in whatever order names stand", () => {
    expect(isSame({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] })).toBe(true);
    expect([isSame({ a: 1 }, { b: 1 }), isSame([1], [1, 2]), isSame(null, {}), isSame([], {})]).toEqual([false, false, false, false]);
  });
});

describe("the receipt of a formation", () => {
  const formation = (receipt: Formation["receipt"], part: Partial<Formation> = {}): Formation =>
    ({ id: "f", status: "formed", at: "", calls: 1, tokens: 2, watermarks: {}, failed: {}, receipt, ...part }) as Formation;
  const outcomes = [{ action: "stored", type: "Note", key: "a" }, { action: "stored", type: "Note", key: "b" }, { action: "ended", type: "Fact", key: "c" }];

  it("counts what was done, from its counts or its outcomes", () => {
    expect(summaryOf(formation({ outcomes })).counts).toEqual([["stored", 2], ["ended", 1]]);
    expect(summaryOf(formation({ counts: { stored: 900 }, outcomes: [], outcomes_left_out: 900 })).counts).toEqual([["stored", 900]]);
  });

  it("counts what was dropped, because it no longer held", () => {
    const dropped = [{ action: "dropped", type: "Note", key: "a" }];
    expect(summaryOf(formation({ outcomes: dropped }, { status: "consolidated" })).counts).toEqual([["dropped", 1]]);
  });

  it("counts what was refused, where the list of it is left out as well", () => {
    expect(summaryOf(formation({ counts: {}, outcomes: [], refused: [{ kind: "quote", reason: "?" }] })).counts).toEqual([["refused", 1]]);
    expect(summaryOf(formation({ counts: { refused: 1 }, outcomes: [], refused_left_out: 2 })).counts).toEqual([["refused", 3]]);
  });

  it("says that there was nothing only where it says so itself", () => {
    expect(summaryOf(formation({ counts: {}, outcomes: [] })).word).toBe("nothing");
    expect(summaryOf(formation({})).word).toBe("erased");
    expect(summaryOf(formation({ counts: { stored: 2 } }))).toEqual({ counts: [["stored", 2]], word: null, reason: null });
    expect(summaryOf(formation({ counts: {}, outcomes: [] }, { status: "consolidated" })).word).toBe("nothing_to_merge");
    expect(summaryOf(formation({ reason: "busy" }, { status: "failed" }))).toEqual({ counts: [], word: null, reason: "busy" });
  });

  it("is folded with others in a row that had nothing to do, so that what was done is found", () => {
    const idle = (id: string) => formation({ counts: {}, outcomes: [] }, { id });
    const busy = formation({ counts: { stored: 1 }, outcomes: [] }, { id: "busy" });
    const failed = formation({ counts: {}, outcomes: [], reason: "no" }, { id: "failed", status: "failed" });
    const ids = (all: Formation[]) => folded(all).map((each) => each.map(({ id }) => id).join(" "));
    expect(ids([idle("a"), idle("b"), idle("c"), busy, idle("d"), idle("e"), failed, idle("f")])).toEqual(["a b c", "busy", "d", "e", "failed", "f"]);
  });

  it("has no reason of blanks alone: then a row would say nothing", () => {
    expect(summaryOf(formation({ counts: {}, outcomes: [], reason: " " }))).toEqual({ counts: [], word: "nothing", reason: null });
  });

  it("of what was asked for now tells what was written, waits and failed", () => {
    const formations = [formation({ counts: { stored: 1, changed: 2, quarantined: 1, unchanged: 4 }, outcomes: [], refused_left_out: 1 })];
    expect(formedBy({ formations, results: [{ end: "formed", reason: "" }] })).toEqual({ failure: null, isAny: true, written: 3, waiting: 1, refused: 1 });
    expect(formedBy({ formations: [], results: [{ end: "postponed", reason: "" }] })).toMatchObject({ failure: "", isAny: false });
    expect(formedBy({ formations: [], results: [{ end: "lost", reason: "others" }] })).toMatchObject({ failure: null, isAny: false });
  });
});

describe("the threads of a receipt", () => {
  const of = (failed: Record<string, number[]>, watermarks: Record<string, number>, read?: Record<string, string[]>) => threadsOf({ failed, watermarks, receipt: read ? { read } : {} });

  it("are those that were given up, or formed, or read by what is tried again", () => {
    expect(of({ t1: [1] }, { t2: 3 }, { t1: ["m"], t2: ["n"] })).toEqual(["t1"]);
    expect(of({}, { t2: 3 }, { t2: ["n"], t3: ["o"] })).toEqual(["t2"]);
    expect(of({}, {}, { t3: ["o"] })).toEqual(["t3"]);
    expect(of({}, {})).toEqual([]);
  });
});
