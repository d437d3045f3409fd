import { describe, expect, it } from "vitest";
import type { Revision } from "../src/api/shapes";
import { formerFields } from "../src/lib/former_fields";

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
