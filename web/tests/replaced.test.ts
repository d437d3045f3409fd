/** What ended when a message added a field to a document is what was true before. */

import { describe, expect, it, vi } from "vitest";

vi.hoisted(() => {
  vi.stubGlobal("document", { baseURI: "http://page.test/" });
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => undefined);
});

import type { Formation, Revision } from "../src/api/shapes";
import { addedFields, endedFor } from "../src/lib/replaced";

const said = (message: string) => ({ thread: "t", message });
const version = (number: number, value: Revision["value"], evidence: Revision["evidence"]) =>
  ({ version: number, value, evidence, state: "active" as const, cause: "formed", believed_from: `day ${number}` });
const FIRST = version(1, { name: "Mira", home: "Porto" }, { "/name": [said("a")], "/home": [said("a")] });
const SECOND = version(2, { name: "Mira", home: "Oslo", work: "nurse" }, { "/name": [said("a")], "/home": [said("b")], "/work": [said("c")] });
const formation = (at: string, ...ended: [key: string, message: string][]) =>
  ({ at, receipt: { outcomes: [{ action: "changed", type: "User", key: "User" }, ...ended.map(([key, message]) => ({ action: "ended", type: "Fact", key, because: [said(message)] }))] } }) as unknown as Formation;

describe("a field that was added", () => {
  it("is told with the messages that it rests on, and when it came", () => {
    expect(addedFields([SECOND, FIRST])).toEqual([{ pointer: "/work", at: "day 2", messages: [said("c")] }]);
  });

  it("is none of the first version, none that had a value before, and none that somebody wrote", () => {
    expect(addedFields([FIRST])).toEqual([]);
    expect(addedFields([version(2, { name: "Mira", home: "Porto", work: "nurse" }, { "/name": [said("a")] }), FIRST])).toEqual([]);
  });

  it("keeps what ended because of its message, in the formation that wrote it", () => {
    const added = addedFields([SECOND, FIRST]);
    expect([...endedFor(added, [formation("day 2", ["job", "c"], ["home", "b"])])]).toEqual([["/work", [{ type: "Fact", key: "job" }]]]);
    expect([...endedFor(added, [formation("day 3", ["job", "c"])])]).toEqual([]);
  });

  it("has none where its message ended two, or added another one, too: which belong together is not known", () => {
    expect([...endedFor(addedFields([SECOND, FIRST]), [formation("day 2", ["job", "c"], ["boat", "c"])])]).toEqual([]);
    const both = version(2, { ...FIRST.value, work: "nurse", boat: "Tern" }, { "/work": [said("c")], "/boat": [said("c")] });
    expect([...endedFor(addedFields([both, FIRST]), [formation("day 2", ["job", "c"])])]).toEqual([]);
  });
});
