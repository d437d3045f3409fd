import { describe, expect, it } from "vitest";
import { EventReader } from "../src/api/sse";
import { faultOf, lineOf, wayOf } from "../src/lib/jsonlines";
import { leavesOf, pointerOf, spoken, stepsOf, valueAt } from "../src/lib/pointer";
import { marked } from "../src/lib/quotes";

describe("quoted words", () => {
  const words = (text: string, quotes: string[]) => marked(text, quotes).filter((each) => each.marked).map((each) => each.text);

  it("are marked where they stand, without regard to case and spaces", () => {
    expect(words("Yes: I live  in\nLisbon.", ["i live in lisbon"])).toEqual(["I live  in\nLisbon"]);
  });

  it("may overlap, stand next to each other, or be absent", () => {
    expect(words("one two three", ["one two", "two three"])).toEqual(["one two", " three"]);
    expect(words("one", ["four", ""])).toEqual([]);
  });

  it("are no pattern, and the spans are the text again", () => {
    const text = "a (b) [c] 100% 我住在里斯本";
    expect(words(text, ["(b) [c]", "里斯本"])).toEqual(["(b) [c]", "里斯本"]);
    expect(marked(text, ["(b)"]).map((each) => each.text).join("")).toBe(text);
  });
});

describe("server-sent events", () => {
  it("are read from pieces that break anywhere", () => {
    const reader = new EventReader();
    const stream = 'event: token\ndata: {"text":"Hé"}\nid: 1:2\n\n: alive\n\nevent: done\ndata: a\ndata: b\n\n';
    const found = [...stream].flatMap((letter) => reader.take(letter));
    expect(found).toEqual([
      { event: "token", data: '{"text":"Hé"}', id: "1:2" },
      { event: "done", data: "a\nb", id: "1:2" },
    ]);
  });

  it("may end their lines with carriage returns", () => {
    expect(new EventReader().take("data: x\r\n\r\n")).toEqual([{ event: "message", data: "x", id: null }]);
  });
});

describe("pointers", () => {
  it("are escaped and read back", () => {
    expect(stepsOf(pointerOf(["a/b", "c~d", "0"]))).toEqual(["a/b", "c~d", "0"]);
    expect(valueAt({ "a/b": [10, 20] }, "/a~1b/1")).toBe(20);
    expect(valueAt({ a: 1 }, "/a/b")).toBeUndefined();
  });

  it("are spoken with places counted from one, and without the last one: an element is told by its value", () => {
    expect(spoken("/favorite_locations/0")).toBe("favorite locations");
    expect(spoken("/people/0/name")).toBe("people › 1 › name");
  });

  it("name each leaf, empty containers too", () => {
    expect(leavesOf({ a: [], b: { c: 1 } }).map((each) => each.pointer)).toEqual(["/a", "/b/c"]);
  });
});

describe("JSON that is typed", () => {
  const text = '[\n  {\n    "name": "User",\n    "parameters": {\n      "type": "object",\n      "properties": {\n        "name": { "type": "strin" }\n      }\n    }\n  }\n]';

  it("has the line of a place, written either way", () => {
    expect(lineOf(text, "types[0].parameters.properties.name")).toBe(7);
    expect(lineOf(text, "/0/parameters/type")).toBe(5);
    expect(lineOf(text, "types[0].name")).toBe(3);
  });

  it("has the line of what is nearest, where the place is not there", () => {
    expect(lineOf(text, "types[0].parameters.properties.age.minimum")).toBe(6);
    expect(lineOf("{", "/a")).toBeNull();
    expect(wayOf("types[2].a.b")).toEqual(["2", "a", "b"]);
  });

  it("has the line of a fault", () => {
    expect(faultOf('{\n  "a": 1,\n}')?.line).toBe(3);
    expect(faultOf("[]")).toBeNull();
  });
});
