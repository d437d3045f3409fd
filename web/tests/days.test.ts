import { describe, expect, it } from "vitest";
import { dayAt, dayFormat, dayOf, daysAgo, earliestOf, endOf, isWholeDay, stepsBetween } from "../src/lib/days";

describe("days on a slider", () => {
  it("are counted from the first to today, over the end of a month and a leap day", () => {
    expect(stepsBetween("2024-02-27", "2024-03-01")).toBe(3);
    expect(dayAt("2024-02-27", 2)).toBe("2024-02-29");
    expect(dayAt("2024-02-27", stepsBetween("2024-02-27", "2024-03-01"))).toBe("2024-03-01");
  });

  it("have two ends also where all is of today, or the day is none", () => {
    expect(stepsBetween("2026-05-01", "2026-05-01")).toBe(1);
    expect(stepsBetween("nonsense", "2026-05-01")).toBe(1);
  });

  it("begin with the earliest that memories tell of", () => {
    const memory = { valid_from: "2025-03-29T00:00:00Z", said_at: "2025-03-03T10:00:00Z", created_at: "2026-01-01T00:00:00Z" };
    expect(earliestOf([memory], undefined)).toBe("2025-03-03");
    expect(earliestOf([memory], "2024-01-01")).toBe("2024-01-01");
    expect(earliestOf([], undefined)).toBeUndefined();
  });

  it("are the same day wherever they are read", () => {
    for (const zone of ["America/Los_Angeles", "UTC", "Asia/Shanghai"]) {
      const day = dayFormat("en-GB", zone);
      for (const each of ["2025-03-22", dayOf(Date.parse("2025-03-22T23:59:59Z") + 999), "2025-03-22T00:00:00Z", "2025-03-22T23:59:59.999999Z", "2025-03-22T23:59:59Z"]) expect(day(each), zone).toBe("22 Mar 2025");
    }
  });

  it("are no moments: these are of the day that it is where they are read", () => {
    expect(dayFormat("en-GB", "America/Los_Angeles")("2025-03-22T05:00:00Z")).toBe("21 Mar 2025");
    expect(dayFormat("en-GB", "Asia/Shanghai")("2025-03-22T17:00:00Z")).toBe("23 Mar 2025");
    expect(["2025-03-22T23:59:58Z", "2025-03-22T00:00:01Z", "2025-03-22T00:00:00+01:00", Date.parse("2025-03-22")].map(isWholeDay)).toEqual([false, false, false, false]);
  });

  it("are so many days ago at every hour of today", () => {
    for (const hour of ["00:10", "12:00", "23:50"]) expect(daysAgo("2026-11-23T00:00:00Z", Date.parse(`2026-11-30T${hour}:00Z`))).toBe(7);
    expect(daysAgo("2026-12-02T23:59:59.999999Z", Date.parse("2026-11-30T20:00:00Z"))).toBe(-2);
  });

  it("mean their end", () => expect(endOf("2026-05-01")).toBe("2026-05-01T23:59:59Z"));
});
