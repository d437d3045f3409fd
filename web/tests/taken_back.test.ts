import { describe, expect, it } from "vitest";
import type { Formation, Revision } from "../src/api/shapes";
import { changedIn, forgottenIn, takenBack, undoneIn } from "../src/lib/taken_back";

const formation = (at: string, last: number, outcomes: [string, string][], thread = "t") =>
  ({ at, watermarks: { [thread]: last }, receipt: { outcomes: outcomes.map(([action, key]) => ({ action, type: "Note", key })) } }) as unknown as Formation;
const FORMATIONS = [
  formation("2026-01-03T00:00:00Z", 9, [["stored", "c"], ["changed", "d"]]),
  formation("2026-01-02T00:00:00Z", 4, [["stored", "a"], ["stored", "b"]]),
  formation("2026-01-01T00:00:00Z", 2, [["refused", "x"], ["unchanged", "a"]]),
];
const revision = (version: number, cause: string, ...messages: string[]) =>
  ({ version, cause, evidence: { "/home": messages.map((message) => ({ thread: "t", message, quote: "" })) } }) as unknown as Revision;

describe("what was taken back", () => {
  it("is what a formation read of which nothing is left", () => {
    const left = (keys: string) => ({ key }: { key: string }) => keys.includes(key);
    expect(forgottenIn(FORMATIONS, "t", left("c"))).toEqual([{ after: 2, last: 4 }]);
    expect(forgottenIn(FORMATIONS, "t", left("bc"))).toEqual([]);
    expect(forgottenIn(FORMATIONS, "t", left(""))).toEqual([{ after: 2, last: 4 }, { after: 4, last: 9 }]);
    expect(forgottenIn(FORMATIONS, "other", left(""))).toEqual([]);
  });

  it("is what a document rested on until that was undone", () => {
    const first = [revision(1, "formed", "a"), revision(2, "formed", "b")];
    expect([...undoneIn([revision(3, "undone", "a"), ...first], "t")]).toEqual(["b"]);
    expect([...undoneIn(first, "t")]).toEqual([]);
    expect([...undoneIn([...first, revision(3, "undone", "a"), revision(4, "undone", "b")], "t")]).toEqual([]);
    expect(changedIn(FORMATIONS, "t")).toEqual([{ type: "Note", key: "d" }]);
  });

  it("is said at the last message of the user that was read", () => {
    const messages = [["a", "user", 1], ["b", "user", 3], ["c", "assistant", 4], ["d", "user", 5], ["e", "user", null]].map(([id, role, position]) => ({ id, role, position }) as { id: string; role: "user"; position: number | null });
    expect([...takenBack(messages, [{ after: 2, last: 4 }, { after: 7, last: 9 }], new Set(["d"]))]).toEqual(["d", "b"]);
  });
});
