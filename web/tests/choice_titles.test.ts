import { expect, test, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { titleOfChoice } from "../src/lib/choice_titles";

test("documents of a type are told apart by their speaker or words, never by a key", () => {
  const named = (name: string) => name.toLowerCase();
  expect(titleOfChoice({ type: "User", key: "User" }, named)).toBe("user");
  expect(titleOfChoice({ type: "User", key: "@Tom" }, named)).toBe("user · Tom");
  expect(titleOfChoice({ type: "User", key: "User~6~16418318c95fa30be7ea", sentence: "home: Oslo" }, named)).toBe("user · home: Oslo");
});
