import { beforeAll, describe, expect, it } from "vitest";
import { actionSaid, namedOnce, objectsSaid, threadNamed } from "../src/lib/audit_words";
import { byAct, erasedKind, kindOf, noteErased } from "../src/lib/erased_kinds";
import { loadLateWords, loadWords, translated, type Word } from "../src/words";

beforeAll(() => Promise.all([loadWords("en"), loadLateWords()]));
const say = (word: Word, values?: Record<string, string | number>) => translated("en", word, values);
const row = (subject: Record<string, string[] | number>, names: string[] = []) => ({ subject, names, description: "told by the service" });

describe("an audited change", () => {
  it("is told by the names that are left, or by how many there are of each kind", () => {
    expect(objectsSaid(row({ memories: ["1"] }, ["memory Fact/home"]), say)).toBe("memory Fact/home");
    expect(objectsSaid(row({ removed: ["1"] }), say)).toBe("1 entry removed");
    expect(objectsSaid(row({ removed: ["1", "2"], sides: ["3"] }), say)).toBe("2 entries removed, 1 record of the service itself");
    expect(objectsSaid(row({ others: ["1"] }), say)).toBe("1 others");
    expect(objectsSaid(row({ more: 3 }), say)).toBe("told by the service");
  });

  it("names a thread, or the one of a message", () => {
    expect(["thread t/1", "message t/1/m", "memory Fact/home", "threads"].map(threadNamed)).toEqual(["t/1", "t/1", undefined, undefined]);
  });

  it("names a thread once, of however many of its messages it tells", () => {
    expect(namedOnce(["message t/1", "message t/2", "message u/1", "thread t", "memory Fact/home"])).toEqual(["message t/1", "message u/1", "memory Fact/home"]);
  });

  it("names its action in words, an unknown one as it is", () => {
    expect(actionSaid("apply", say)).toBe("memories written");
    expect(actionSaid("restore erased", say)).toBe("restore erased");
  });
});

describe("what was erased", () => {
  it("is known by its kind alone, in this browser", () => {
    noteErased(["one"], { memory: { type: "Note", key: "secret" } });
    expect(erasedKind("one")).toBe("memory");
    expect(erasedKind("two")).toBeUndefined();
    noteErased(["both"], { message: { thread: "t", id: "m" } }, true);
    noteErased(["all"], { thread: "t" }, true);
    expect([erasedKind("both"), erasedKind("all")]).toEqual(["quoted", "thread"]);
    expect(kindOf({ scope: true })).toBe("scope");
  });

  it("is one act where it has several receipts", () => {
    noteErased(["first", "second"], { memory: { type: "Note", key: "secret" } });
    expect([erasedKind("first"), erasedKind("second")]).toEqual(["memory", "memory"]);
    const receipts = ["second", "other", "first"].map((id) => ({ id }));
    expect(byAct(receipts).map((act) => act.map(({ id }) => id))).toEqual([["second", "first"], ["other"]]);
  });
});
