import { describe, expect, it } from "vitest";
import { changesBetween, textDiff, wordsOf } from "../src/lib/diff";

describe("changes between two documents", () => {
  it("names what was added, removed and changed by pointer", () => {
    const changes = changesBetween({ home: "Lisbon", age: 30 }, { home: "Porto", job: "translator" });
    expect(changes).toEqual([
      { kind: "changed", pointer: "/home", before: "Lisbon", after: "Porto" },
      { kind: "removed", pointer: "/age", before: 30 },
      { kind: "added", pointer: "/job", after: "translator" },
    ]);
  });

  it("does not move the rest of a list when its first element goes", () => {
    expect(changesBetween({ likes: ["tea", "rain"] }, { likes: ["rain"] })).toEqual([
      { kind: "removed", pointer: "/likes/0", before: "tea" },
    ]);
  });

  it("tells one of two equal elements that went", () => {
    expect(changesBetween({ a: [1, 1] }, { a: [1] })).toHaveLength(1);
  });

  it("finds none in equal documents, and tells true from 1", () => {
    expect(changesBetween({ a: { b: [1, { c: null }] } }, { a: { b: [1, { c: null }] } })).toEqual([]);
    expect(changesBetween({ a: true }, { a: 1 })).toHaveLength(1);
  });
});

describe("the difference of two texts", () => {
  it("keeps equal words, and gives both texts back from its pieces", () => {
    const pieces = textDiff("I live in Lisbon now", "I live in Porto now");
    const without = (kind: string) => pieces.filter((each) => each.kind !== kind).map((each) => each.text).join("");
    expect(without("added")).toBe("I live in Lisbon now");
    expect(without("removed")).toBe("I live in Porto now");
    expect(pieces.filter((each) => each.kind === "same").length).toBeGreaterThan(0);
  });

  it("shows texts that have little in common whole", () => {
    expect(textDiff("three espressos a day", "one espresso in the morning; tea later")).toEqual([
      { kind: "removed", text: "three espressos a day" }, { kind: "added", text: "one espresso in the morning; tea later" },
    ]);
    expect(textDiff("the boat of Ada is at the quay today", "tomorrow she sails to Oslo, where the ferries are")).toHaveLength(2);
    expect(textDiff("", "new")).toEqual([{ kind: "added", text: "new" }]);
    expect(textDiff("", "")).toEqual([]);
  });

  it("shows a phrase that was replaced as a phrase, and not word by word", () => {
    expect(textDiff("Mira lives in Porto, Rua das Amoreiras 18", "Mira lives in Lyon, Rue Mercière 7")).toEqual([
      { kind: "same", text: "Mira lives in " }, { kind: "removed", text: "Porto, Rua das Amoreiras 18" }, { kind: "added", text: "Lyon, Rue Mercière 7" },
    ]);
    expect(textDiff("a big red boat sails here", "a boat sails far from here").map((each) => `${each.kind[0]}:${each.text}`)).toEqual(["s:a ", "r:big red ", "s:boat sails ", "a:far from ", "s:here"]);
  });

  it("compares Chinese by character", () => {
    expect(wordsOf("我住在里斯本")).toHaveLength(6);
    expect(textDiff("我住在北京", "我住在南京").filter((each) => each.kind === "same").map((each) => each.text)).toEqual(["我住在", "京"]);
  });
});
