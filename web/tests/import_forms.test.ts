import { describe, expect, it } from "vitest";
import { exportedFrom, landingOf, scopeIn } from "../src/lib/import_forms";

describe("a file to import", () => {
  it("is an export if its first line is a record of one", async () => {
    expect(scopeIn('{"kind": "thread", "scope": ["users", "ada"], "id": "t"}')).toEqual(["users", "ada"]);
    expect(scopeIn('{"kind": "export", "version": 1}')).toEqual([]);
    expect(scopeIn('{"kind": "memory", "scope": ["users"], "value": {"cut')).toEqual(["users"]);
    expect(scopeIn('{"type": "entity", "name": "Ada"}')).toBeNull();
    expect(scopeIn('{"role": "user", "content": "kind"}')).toBeNull();
    expect(scopeIn("PK\u0003\u0004")).toBeNull();
    expect(await exportedFrom(new Blob(['\n{"kind": "memory", "scope": ["a"]}\n']))).toEqual(["a"]);
    expect(await exportedFrom(new Blob(["[]"]))).toBeNull();
  });

  it("goes back to where it came from, or is copied to another scope", () => {
    expect(landingOf(["users", "ada"], ["users", "ada"])).toEqual([]);
    expect(landingOf(["users"], ["users", "ada"])).toEqual([]);
    expect(landingOf([], ["users"])).toEqual([]);
    expect(landingOf(["copy"], [])).toEqual(["copy"]);
    expect(landingOf(["users", "bob"], ["users", "ada"])).toEqual(["users", "bob"]);
  });
});
