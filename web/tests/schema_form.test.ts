import { describe, expect, it } from "vitest";
import type { JsonObject } from "../src/api/shapes";
import { documentOf, draftOf, faultsIn, fieldsOf } from "../src/lib/schema_form";

const SCHEMA: JsonObject = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", title: "Called", description: "What to call them", minLength: 2, maxLength: 5, pattern: "^[A-Z]" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    height: { type: ["number", "null"] },
    smokes: { type: "boolean" },
    diet: { enum: ["all", "vegan", 3] },
    interests: { type: "array", items: { type: "string" } },
    address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    pets: { type: "array", items: { type: "object" } },
  },
};
const ADA: JsonObject = { name: "Ada", age: 36, interests: ["boats", "tea"], pets: [{ cat: "Ida" }], extra: { deep: [1] }, odd: "" };
const fields = fieldsOf(SCHEMA, ADA);
const filled = (typed: Record<string, string>, value = ADA) => documentOf(fieldsOf(SCHEMA, value), { ...draftOf(fieldsOf(SCHEMA, value), value), ...typed }, value);
const faultOf = (typed: Record<string, string>) => [...filled(typed).faults].map(([pointer, fault]) => [pointer, fault.word]);

describe("the fields of a form", () => {
  it("are those of the schema in its order, then those that only the document has", () => {
    expect(fields.map((each) => each.steps[0])).toEqual(["name", "age", "height", "smokes", "diet", "interests", "address", "pets", "extra", "odd"]);
    expect(fields.map((each) => each.kind)).toEqual(["text", "number", "number", "yes_no", "choice", "lines", "group", "json", "group", "text"]);
    expect(fields[0]).toMatchObject({ label: "Called", about: "What to call them", isRequired: true });
  });

  it("show a value that is not of the schema's type as JSON", () => {
    expect(fieldsOf(SCHEMA, { age: "old", interests: [1] }).filter((each) => each.kind === "json").map((each) => each.steps[0])).toEqual(["age", "interests", "pets"]);
    expect(fieldsOf(SCHEMA, { interests: ["a\nb"] })[5]?.kind).toBe("json");
  });
});

describe("the document of a form", () => {
  it("is exactly what it was where nothing is typed, empty texts and unknown fields as well", () => {
    expect(filled({})).toEqual({ value: ADA, faults: new Map() });
  });

  it("has what was typed, of the type that the schema asks for", () => {
    const { value } = filled({ "/age": " 37 ", "/height": "1.7", "/smokes": "false", "/diet": '"vegan"', "/interests": "boats\n\n chess ", "/address/city": "Porto" });
    expect(value).toEqual({ ...ADA, age: 37, height: 1.7, smokes: false, diet: "vegan", interests: ["boats", "chess"], address: { city: "Porto" } });
  });

  it("loses what was emptied, and has no group of which nothing is filled in", () => {
    const { value, faults } = filled({ "/age": "", "/pets": "" });
    expect(Object.keys(value)).toEqual(["name", "interests", "extra", "odd"]);
    expect(faults.size).toBe(0);
  });

  it("is at fault at the field", () => {
    expect(faultOf({ "/name": "" })).toContainEqual(["/name", "required"]);
    expect(faultOf({ "/name": "A" })).toContainEqual(["/name", "short"]);
    expect(faultOf({ "/name": "Augusta" })).toContainEqual(["/name", "long"]);
    expect(faultOf({ "/name": "ada" })).toContainEqual(["/name", "pattern"]);
    expect(faultOf({ "/age": "x" })).toContainEqual(["/age", "number"]);
    expect(faultOf({ "/age": "1.5" })).toContainEqual(["/age", "whole"]);
    expect(faultOf({ "/age": "-1" })).toContainEqual(["/age", "least"]);
    expect(faultOf({ "/age": "200" })).toContainEqual(["/age", "most"]);
    expect(faultOf({ "/pets": "[" })).toContainEqual(["/pets", "json"]);
  });
});

describe("what the service says is wrong", () => {
  it("stands at the field that it names, or at the one that holds it", () => {
    const told = faultsIn("the value is no User: /age: 200 is more than the maximum of 150; /interests/0: 1 is a number; it may have 'age'", fields);
    expect([...told].map(([pointer, fault]) => [pointer, fault.values?.message])).toEqual([["/age", "200 is more than the maximum of 150"], ["/interests", "1 is a number"]]);
    expect(faultsIn("the quota of today is used up: try tomorrow", fields).size).toBe(0);
  });
});
