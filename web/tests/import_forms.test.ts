import { describe, expect, it } from "vitest";
import { isExport, isRecord } from "../src/lib/import_forms";

describe("a file to import", () => {
  it("is an export if its first line is a record of one", async () => {
    expect(isRecord('{"kind": "thread", "scope": [], "id": "t"}')).toBe(true);
    expect(isRecord('{"kind": "export", "version": 1}')).toBe(true);
    expect(isRecord('{"type": "entity", "name": "Ada"}')).toBe(false);
    expect(isRecord('{"role": "user", "content": "kind"}')).toBe(false);
    expect(isRecord("PK\u0003\u0004")).toBe(false);
    expect(await isExport(new Blob(['\n{"kind": "memory", "scope": ["a"]}\n']))).toBe(true);
    expect(await isExport(new Blob(["[]"]))).toBe(false);
  });
});
