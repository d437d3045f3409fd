/** Changes of this tab can be undone where they are listed, as long as the service accepts that. */

import { beforeEach, describe, expect, it, vi } from "vitest";

vi.hoisted(() => {
  vi.stubGlobal("document", { baseURI: "http://page.test/" });
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => undefined);
});

import { api } from "../src/api/client";
import { Problem } from "../src/api/problem";
import { changeThatLeft, forgetAllChanges, forgetChangesIn, keepChange, removalOf, removalsIn, takeBack, watchChange } from "../src/lib/kept_changes";
import { shortened } from "../src/lib/sentences";
import { toldOf } from "../src/lib/take_back";

const scope = ["ada"];
const left = (key: string, version: number | null) => ({ scope, type: "Note", key, version });
const token = (undo: string) => ({ scope, undo });
const memory = (key: string, version: number) => ({ type: "Note", key, version });

beforeEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  forgetAllChanges();
});

describe("a change that was made", () => {
  it("can be undone while the memory is as it left it", () => {
    const change = keepChange("the boat", [left("boat", 2)], [token("one")]);
    expect(changeThatLeft(scope, memory("boat", 2))).toEqual(change);
    expect(changeThatLeft(scope, memory("boat", 3))).toBeUndefined();
    expect(changeThatLeft(["eve"], memory("boat", 2))).toBeUndefined();
    expect(removalOf(scope, memory("boat", 2))).toBeUndefined();
  });

  it("can be undone for an hour, and not after an erase", () => {
    vi.useFakeTimers();
    keepChange("the boat", [left("boat", 2)], [token("one")]);
    vi.advanceTimersByTime(3_599_000);
    expect(changeThatLeft(scope, memory("boat", 2))).toBeDefined();
    vi.advanceTimersByTime(2_000);
    expect(changeThatLeft(scope, memory("boat", 2))).toBeUndefined();
    keepChange("the boat", [left("boat", 3)], [token("two")]);
    forgetChangesIn(["eve"]);
    expect(changeThatLeft(scope, memory("boat", 3))).toBeDefined();
    forgetChangesIn(scope);
    expect(changeThatLeft(scope, memory("boat", 3))).toBeUndefined();
  });

  it("cannot be undone after a later change of the same memory, and is not offered", () => {
    const edit = keepChange("the boat", [left("boat", 2), left("oar", 2)], [token("one")]);
    const isOver = vi.fn();
    const leave = watchChange(edit, isOver);
    keepChange("the house", [left("house", 2)], [token("two")]);
    expect(isOver).not.toHaveBeenCalled();
    keepChange("the boat", [left("boat", 3)], [token("three")]);
    expect(isOver).toHaveBeenCalled();
    leave();
    expect(changeThatLeft(scope, memory("oar", 2))).toBeUndefined();
    expect(changeThatLeft(scope, memory("house", 2))).toBeDefined();
    expect(changeThatLeft(scope, memory("boat", 3))).toBeDefined();
  });

  it("of many memories can still be undone in part", () => {
    keepChange("many", [left("boat", null), left("oar", null)], [token("one"), token("two")]);
    keepChange("the boat", [left("boat", 1)], [token("three")]);
    expect(removalsIn(scope)).toHaveLength(1);
  });

  it("is listed by its scope where it removed something", () => {
    keepChange("the boat", [left("boat", 2)], [token("one")]);
    const removal = keepChange("the house", [left("house", null)], [token("two")]);
    expect(removalsIn(scope)).toEqual([removal]);
    expect(removalsIn(["eve"])).toEqual([]);
    expect(removalOf(scope, { type: "Note", key: "house" })).toEqual(removal);
  });

  it("gives way to newer ones where there is no room for all", () => {
    keepChange("old", [left("old", 2)], [token("x".repeat(1_200_000))]);
    keepChange("new", [left("new", 2)], [token("y".repeat(1_200_000))]);
    expect(changeThatLeft(scope, memory("new", 2))).toBeDefined();
    expect(changeThatLeft(scope, memory("old", 2))).toBeUndefined();
  });
});

describe("undoing a change", () => {
  it("asks for its last part first, and then forgets it", async () => {
    const undo = vi.spyOn(api, "undo").mockResolvedValue(undefined);
    await takeBack(keepChange("both", [left("a", null), left("b", null)], [token("one"), token("two")]));
    expect(undo.mock.calls.map(([, each]) => each)).toEqual(["two", "one"]);
    expect(removalsIn(scope)).toEqual([]);
  });

  it("goes on with the rest after it broke off", async () => {
    const undo = vi.spyOn(api, "undo").mockResolvedValueOnce(undefined).mockRejectedValueOnce(new Problem(0, "unreachable", "", ""));
    const change = keepChange("both", [left("a", null)], [token("one"), token("two")]);
    await expect(takeBack(change)).rejects.toBeInstanceOf(Problem);
    const [rest] = removalsIn(scope);
    expect(rest?.tokens).toEqual([token("one")]);
    undo.mockResolvedValue(undefined);
    await takeBack(change);
    expect(undo.mock.calls.map(([, each]) => each)).toEqual(["two", "one", "one"]);
    expect(removalsIn(scope)).toEqual([]);
  });

  it("is offered no more once the service refuses it", async () => {
    vi.spyOn(api, "undo").mockRejectedValue(new Problem(412, "version_conflict", "", ""));
    await expect(takeBack(keepChange("the boat", [left("boat", 2)], [token("one")]))).rejects.toBeInstanceOf(Problem);
    expect(changeThatLeft(scope, memory("boat", 2))).toBeUndefined();
  });

  it("names a conflict by what was changed, not by its address", async () => {
    const facts = { address: "Note/boat in ada", expected: 4, actual: 5 };
    const conflict = new Problem(412, "version_conflict", "", "", { code: "version_conflict", values: facts });
    vi.spyOn(api, "undo").mockRejectedValue(conflict);
    const refused = await takeBack(keepChange("The boat is red", [left("boat", 2)], [token("one")])).catch((error: Problem) => error);
    expect(refused).toMatchObject({ reason: { code: "version_conflict_of", values: { memory: "“The boat is red”", actual: 5 } }, href: "#/memories/Note/boat?scope=ada" });
    // Any of several may be meant: then none is named.
    const several = keepChange("both", [left("a", 2), left("b", 2)], [token("one")]);
    await expect(takeBack(several)).rejects.toBe(conflict);
  });
});

describe("a memory in a notice", () => {
  it("is what it says, a document after whose it is", () => {
    const olga = { type: "User", key: "User", value: { user_name: "Olga", home: "Oslo" }, sentence: "user_name: Olga; home: Oslo" };
    expect(toldOf(olga, (name) => name.toUpperCase())).toBe("Olga: HOME Oslo");
    expect(toldOf({ ...olga, key: "@Ada" })).toBe("Ada: user name Olga, home Oslo");
    expect(toldOf({ ...olga, value: { home: "Oslo" }, sentence: "home: Oslo" })).toBe("home Oslo");
    expect(toldOf({ ...olga, value: { content: "Oslo" }, sentence: "Oslo is far." })).toBe("Oslo is far.");
  });

  it("is cut between words, and where there are none between characters", () => {
    expect(shortened("short")).toBe("short");
    expect(shortened("Guess what, I have taken up the cello since last week")).toBe("Guess what, I have taken up the cello since…");
    expect(shortened("猫".repeat(60))).toBe(`${"猫".repeat(47)}…`);
  });
});
