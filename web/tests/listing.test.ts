import { describe, expect, it } from "vitest";
import { partsOf } from "../src/lib/listing";
import { orderIn } from "../src/lib/orders";
import { daysIn, isToday, momentOf, momentsOf } from "../src/lib/time";
import { nextPlace } from "../src/parts/virtual_rows";

describe("a long list", () => {
  it("asks for the parts that are in sight, and none beyond its end", () => {
    expect(partsOf(0, 20, 100_000)).toEqual([0]);
    expect(partsOf(95, 105, 100_000)).toEqual([0, 1]);
    expect(partsOf(50_010, 50_030, 100_000)).toEqual([500]);
    expect(partsOf(180, 250, 200)).toEqual([1]);
    expect(partsOf(0, 0, 0)).toEqual([0]);
  });

  it("is walked by keys, and not beyond its ends", () => {
    expect(nextPlace("ArrowDown", 4, 10)).toBe(5);
    expect(nextPlace("ArrowDown", 9, 10)).toBe(9);
    expect(nextPlace("PageUp", 4, 10)).toBe(0);
    expect(nextPlace("End", 4, 10)).toBe(9);
    expect(nextPlace("x", 4, 10)).toBeNull();
  });
});

describe("the day that is looked at", () => {
  it("is read from the address, and today where that names no day", () => {
    const days = daysIn(new URLSearchParams("on=2026-03-01&known=never"));
    expect(days).toEqual({ on: "2026-03-01", known: "" });
    expect(isToday(days)).toBe(false);
    expect(momentsOf(days)).toEqual({ valid_at: "2026-03-01T23:59:59Z" });
    expect(daysIn(new URLSearchParams("on=2026-02-31x")).on).toBe("");
    expect(daysIn(new URLSearchParams("on=2026-13-01")).on).toBe("");
  });

  it("and the order is the usual one where that names none", () => {
    expect([orderIn("type"), orderIn("x"), orderIn("")]).toEqual(["type", "newest", "newest"]);
  });
});

describe("the moment of two days", () => {
  it("is the end of the earlier one, and none of today", () => {
    expect(momentOf({ on: "2025-04-01", known: "2025-03-12" })).toBe("2025-03-12T23:59:59Z");
    expect(momentOf({ on: "", known: "2025-04-01" })).toBe("2025-04-01T23:59:59Z");
    expect(momentOf({ on: "", known: "" })).toBe("");
  });
});
