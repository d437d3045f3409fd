import { describe, expect, it } from "vitest";
import type { EraseTarget, Evidence, Memory } from "../src/api/shapes";
import { isTyped, planOf } from "../src/lib/erase_plan";
import { affectedBy, isNothing, takes, totalsOf } from "../src/lib/erase_reach";

const said = (thread: string, message: string): Evidence => ({ thread, message });
const memory = (key: string, ...evidence: Evidence[]) => ({ type: "Fact", key, evidence: { "": evidence } }) as unknown as Memory;
const MEMORIES = [memory("one", said("talk", "1")), memory("both", said("talk", "1"), said("other", "1")), memory("two", said("talk", "2")), memory("hand")];
const of = (target: EraseTarget) => affectedBy([target], MEMORIES).map((each) => `${each.memory.key} ${each.goes ? "goes" : "stays"}`);

describe("what an erase takes", () => {
  it("is what rests on it alone; what rests on more loses a part", () => {
    expect(of({ message: { thread: "talk", id: "1" } })).toEqual(["one goes", "both stays"]);
    expect(of({ thread: "talk" })).toEqual(["one goes", "both stays", "two goes"]);
    expect(of({ memory: { type: "Fact", key: "two" } })).toEqual(["two goes"]);
    expect(of({ thread: "nowhere" })).toEqual([]);
  });

  it("is no message of another thread that has the same id", () => {
    expect(takes({ message: { thread: "talk", id: "1" } }, said("other", "1"))).toBe(false);
    expect(takes({ scope: true }, said("other", "1"))).toBe(true);
  });

  it("is planned as one erase for each thread, the first with the messages beside the one that was asked for", () => {
    const quoted = [{ thread: "talk", message: "2" }, { thread: "other", message: "9" }, { thread: "talk", message: "3" }];
    expect(planOf({ message: { thread: "talk", id: "1" } }, quoted)).toEqual([{ messages: { thread: "talk", ids: ["1", "2", "3"] } }, { messages: { thread: "other", ids: ["9"] } }]);
    expect(planOf({ memory: { type: "Fact", key: "a" } }, quoted)).toEqual([{ memory: { type: "Fact", key: "a" } }, { messages: { thread: "talk", ids: ["2", "3"] } }, { messages: { thread: "other", ids: ["9"] } }]);
    expect(planOf({ message: { thread: "talk", id: "1" } }, [])).toEqual([{ message: { thread: "talk", id: "1" } }]);
    expect(takes({ messages: { thread: "talk", ids: ["2"] } }, said("talk", "2"))).toBe(true);
  });

  it("is one total, to which what was chosen and what was ticked add up", () => {
    const counts = (messages: number, memories: number, revised: number) => ({ messages, memories, revised });
    const chosen: EraseTarget = { message: { thread: "talk", id: "1" } };
    const plan = planOf(chosen, [{ thread: "other", message: "1" }]);
    // Each preview tells of the memory that rests on both that it loses a part; together it goes, once.
    const previews = [counts(1, 1, 1), counts(1, 0, 1)];
    expect(totalsOf(chosen, counts(1, 1, 1), plan, previews, MEMORIES)).toEqual({ total: counts(2, 2, 0), chosen: counts(1, 1, 0), ticked: counts(1, 1, 0) });
    expect(totalsOf(chosen, counts(1, 1, 1), [chosen], [counts(1, 1, 1)], MEMORIES)).toEqual({ total: counts(1, 1, 1), chosen: counts(1, 1, 1), ticked: counts(0, 0, 0) });
  });

  it("counts a memory once that goes itself and with the messages that it rests on", () => {
    const counts = (messages: number, memories: number) => ({ messages, memories, revised: 0 });
    const chosen: EraseTarget = { memory: { type: "Fact", key: "two" } };
    const plan = planOf(chosen, [{ thread: "talk", message: "2" }]);
    expect(totalsOf(chosen, counts(0, 1), plan, [counts(0, 1), counts(1, 1)], MEMORIES)).toEqual({ total: counts(1, 1), chosen: counts(0, 1), ticked: counts(1, 0) });
  });

  it("may be nothing", () => {
    expect(isNothing({ messages: 0, memories: 0, revised: 0 })).toBe(true);
    expect(isNothing({ messages: 0, memories: 0, revised: 1 })).toBe(false);
  });
});

describe("the word that confirms an erase", () => {
  it("is that word, in any case and with blanks around it", () => {
    expect(["Erase", " erase ", "ERASE"].map((each) => isTyped(each, "Erase"))).toEqual([true, true, true]);
    expect(["", " ", "Eras", "Erase it"].map((each) => isTyped(each, "Erase"))).toEqual([false, false, false, false]);
    expect(isTyped("抹除 ", "抹除")).toBe(true);
  });
});
