import { describe, expect, it } from "vitest";
import type { Revision } from "../src/api/shapes";
import { fieldsByHand, formerFields } from "../src/lib/former_fields";

const version = (number: number, value: Revision["value"], more: Partial<Pick<Revision, "state" | "cause">> = {}) => ({ version: number, value, state: "active" as const, cause: "formed", ...more });

describe("the former value of a field", () => {
  it("is told of each that says something else by now", () => {
    const all = [version(1, { home: "Porto", name: "Mira" }), version(3, { home: "Oslo", name: "Mira", age: 30 }), version(2, { home: "Porto", name: "Mira", age: 30 })];
    expect([...formerFields(all)]).toEqual([["/home", "Porto"]]);
  });

  it("is the last of several, and not the one of today", () => {
    const all = [version(1, { home: "Rome" }), version(2, { home: "Porto" }), version(3, { home: "Oslo" })];
    expect(formerFields(all).get("/home")).toBe("Porto");
    expect(formerFields([...all, version(4, { home: "Porto" })]).get("/home")).toBe("Oslo");
  });

  it("is none that was undone, or never in force", () => {
    expect([...formerFields([version(1, { home: "Porto" }), version(2, { home: "Oslo" }), version(3, { home: "Porto" }, { cause: "undone" })])]).toEqual([]);
    expect([...formerFields([version(1, { home: "Rome" }, { state: "quarantined" }), version(2, { home: "Porto" })])]).toEqual([]);
  });

  it("is none of a list, which only grew", () => {
    expect([...formerFields([version(1, { likes: ["tea"] }), version(2, { likes: ["tea", "rowing"] })])]).toEqual([]);
    expect([...formerFields([])]).toEqual([]);
  });
});

describe("a field that somebody corrected", () => {
  const cited = (message: string, pointer = "/home") => ({ [pointer]: [{ thread: "t", message }] });
  const byHand = (...versions: (Revision["evidence"] | [Revision["evidence"], Revision["value"], string?])[]) => [...fieldsByHand(versions.map((each, place) => {
    const [evidence, value, cause] = Array.isArray(each) ? each : [each, { home: `${place}` }];
    return { ...version(place + 1, value, { cause: cause ?? "put" }), evidence };
  }))];

  it("cites no new words for what it says now", () => {
    expect(byHand(cited("a"), {})).toEqual(["/home"]);
    expect(byHand(cited("a"), cited("a"))).toEqual(["/home"]);
    expect(byHand(cited("a"), cited("b"))).toEqual([]);
    expect(byHand(cited("a"), cited("b", ""))).toEqual([]);
  });

  it("stays one while others change, until words say something else", () => {
    const corrected = [{}, { home: "Faro" }] as [Revision["evidence"], Revision["value"]];
    expect(byHand([cited("a"), { home: "Porto" }], corrected, [cited("b", "/age"), { home: "Faro", age: 30 }])).toEqual(["/home"]);
    expect(byHand([cited("a"), { home: "Porto" }], corrected, [cited("b"), { home: "Braga" }, "formed"])).toEqual([]);
  });

  it("is none of the first version, and none that was undone", () => {
    expect(byHand([{}, { home: "Porto" }])).toEqual([]);
    expect(byHand([cited("a"), { home: "Porto" }], [{}, { home: "Faro" }], [{}, { home: "Porto" }, "undone"])).toEqual([]);
  });

  it("is one that was added, too", () => {
    expect(byHand([cited("a"), { home: "Porto" }], [cited("a"), { home: "Porto", age: 30 }])).toEqual(["/age"]);
  });
});
