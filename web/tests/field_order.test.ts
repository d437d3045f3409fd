import { afterEach, expect, it } from "vitest";
import { inOrder, noteTypes } from "../src/lib/field_order";
import { pairsOf } from "../src/lib/sentences";

const typed = (...names: string[]) => ({ parameters: { properties: Object.fromEntries(names.map((each) => [each, {}])) } });

afterEach(() => noteTypes([]));

it("puts the fields of a document in the order of its schema, however they were written", () => {
  noteTypes([typed("subject", "predicate"), typed("user_name", "home", "allergy")]);
  expect(pairsOf({ allergy: "shrimp", home: "Faro", user_name: "Mira" }).map((each) => each.name)).toEqual(["user name", "home", "allergy"]);
  expect(pairsOf({ home: "Faro", allergy: "" }).map((each) => each.name)).toEqual(["home"]);
});

it("leaves fields that no schema has as they are", () => {
  const fields = [["b", 1], ["a", 2]] as const;
  expect(inOrder(fields)).toEqual(fields);
  noteTypes([typed("a"), { parameters: {} }]);
  expect(inOrder(fields)).toEqual(fields);
});
