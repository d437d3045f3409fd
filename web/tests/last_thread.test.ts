/** Chat opens with the thread that was read last. */

import { describe, expect, it } from "vitest";
import type { Thread } from "../src/api/shapes";
import { noteThread, threadToOpen } from "../src/lib/last_thread";

const listed = [{ id: "old", created_at: "2025-01-01T00:00:00Z" }, { id: "new", created_at: "2025-02-01T00:00:00Z" }] as Thread[];
const nowhere = () => false;

describe("the thread that Chat opens with", () => {
  it("is the newest at first, and none where there is none", () => {
    expect(threadToOpen("ada", listed, nowhere)).toBe("new");
    expect(threadToOpen("ada", [], nowhere)).toBeUndefined();
  });

  it("is the one that was read last in that scope", () => {
    noteThread("ada", "old");
    expect(threadToOpen("ada", listed, nowhere)).toBe("old");
    expect(threadToOpen("eve", listed, nowhere)).toBe("new");
  });

  it("is the newest again once that one is gone; one that was just begun is not listed", () => {
    noteThread("ada", "begun");
    expect(threadToOpen("ada", listed, nowhere)).toBe("new");
    expect(threadToOpen("ada", listed, (id) => id === "begun")).toBe("begun");
  });
});
