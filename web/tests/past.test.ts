import { describe, expect, it } from "vitest";
import type { Formation, Memory, Revision } from "../src/api/shapes";
import { believedAt, believedFirst, believedSince, broughtBy, changedSince, daysOf, endedIn, lanesOf, listedAt, ownFirst, saysNothing, scaleEnd, scaleOf, sinceThen, speakerOf, timeOf, withEnded } from "../src/lib/past";

const cited = (message: string) => [{ thread: "t", message, quote: message }];

function revision(version: number, value: Revision["value"], evidence: Revision["evidence"], from: string, until: string | null): Revision {
  return { version, value, evidence, text: "", valid_from: null, valid_until: null, trust: "user", state: "active", cause: "formed", believed_from: from, believed_until: until };
}

const FIRST = revision(1, { home: "Lisbon" }, { "/home": cited("a") }, "2026-01-01T10:00:00Z", "2026-01-05T10:00:00Z");
const SECOND = revision(2, { home: "Porto" }, { "/home": cited("b") }, "2026-01-05T10:00:00Z", "2026-01-08T10:00:00Z");
const THIRD = revision(3, { home: "Porto", age: 30 }, { "/home": cited("b"), "/age": cited("c") }, "2026-01-08T10:00:00Z", null);
const ALL = [THIRD, SECOND, FIRST];
const NOW = Date.parse("2026-01-10T12:00:00Z");

describe("what became of a version", () => {
  const waiting = { ...FIRST, state: "quarantined" as const };

  it("is the first later one with another state, else that it stands", () => {
    expect(sinceThen([THIRD, SECOND, waiting], 1)).toEqual({ state: "active", at: SECOND.believed_from });
    expect(sinceThen([THIRD, { ...SECOND, state: "quarantined" }, FIRST], 2)).toEqual({ state: "active", at: THIRD.believed_from });
    expect(sinceThen([{ ...SECOND, state: "quarantined" }, waiting], 1)).toEqual({ state: "quarantined", at: FIRST.believed_from });
    expect(sinceThen([SECOND], 1)).toBeUndefined();
  });
});

describe("the scale of a timeline", () => {
  it("ends today, or a while after the last change", () => {
    expect(scaleEnd(ALL, NOW)).toBe(NOW);
    expect(scaleEnd(ALL, NOW + 600 * 86_400_000)).toBe(Date.parse("2026-01-11T10:00:00Z"));
  });
});

describe("a scale of changes", () => {
  const DAY = 86_400_000;
  const place = scaleOf([0, 20 * DAY, 600 * DAY], 600 * DAY + 1000);

  it("leaves room for words to each stretch, however short it is beside the others", () => {
    expect(place(20 * DAY)).toBeGreaterThan(0.12);
    expect(1 - place(600 * DAY)).toBeGreaterThanOrEqual(0.12);
    expect(place(600 * DAY) - place(20 * DAY)).toBeGreaterThan(0.5);
  });

  it("goes from its first change to its end, and never back", () => {
    expect([place(-DAY), place(0), place(600 * DAY + 1000), place(900 * DAY)]).toEqual([0, 0, 1, 1]);
    const places = Array.from({ length: 61 }, (_, at) => place(at * 10 * DAY));
    expect([...places].sort((one, other) => one - other)).toEqual(places);
    expect([scaleOf([], 5)(5), scaleOf([5], 5)(5)]).toEqual([0, 0]);
  });

  it("has room for as many changes as there are", () => {
    const many = Array.from({ length: 200 }, (_, at) => at);
    expect(scaleOf(many, 10 * DAY)(100)).toBeLessThan(0.5);
  });
});

describe("what was restored", () => {
  const said = (sentence: string, each: Revision) => ({ ...each, sentence });
  const [FIRST_SAID, ...LATER] = [said("Lisbon", FIRST), said("Porto", SECOND), said("Porto", THIRD)] as const;
  const ALL = [FIRST_SAID, ...LATER];
  const restored = { ...FIRST_SAID, version: 4, cause: "restored 1", believed_from: "2026-01-09T10:00:00Z" };

  it("was believed first when the version was that is in force again", () => {
    expect(believedFirst([restored, ...ALL])).toBe(FIRST.believed_from);
    expect(believedFirst([{ ...restored, version: 5, cause: "said again", believed_from: "2026-01-09T11:00:00Z" }, restored, ...ALL])).toBe(FIRST.believed_from);
  });

  it("is nothing that was written otherwise, or whose version is gone", () => {
    expect(believedFirst(ALL)).toBeUndefined();
    expect(believedFirst([{ ...restored, cause: "put" }, ...ALL])).toBeUndefined();
    expect(believedFirst([restored])).toBeUndefined();
  });
});

describe("a profile in time", () => {
  it("was on a day what was believed then", () => {
    expect(believedAt(ALL, Date.parse("2026-01-06T00:00:00Z"))?.value).toEqual({ home: "Porto" });
    expect(believedAt(ALL, Date.parse("2025-12-31T00:00:00Z"))).toBeUndefined();
    expect(believedAt(ALL, NOW)?.version).toBe(3);
  });

  it("has nothing to show before its first version, and where all fields are gone", () => {
    expect([undefined, { value: {} }, { value: { home: null, likes: [] } }, FIRST].map(saysNothing)).toEqual([true, true, true, false]);
  });

  it("changes exactly at the moment of the next version", () => {
    expect(believedAt(ALL, Date.parse("2026-01-05T10:00:00Z"))?.version).toBe(2);
    expect(believedAt(ALL, Date.parse("2026-01-05T10:00:00Z") - 1)?.version).toBe(1);
  });

  it("has a day for each from the first version to now", () => {
    const days = daysOf(ALL, NOW);
    expect(days).toHaveLength(10);
    expect(days[9]).toBe(NOW);
  });

  it("has a lane for each field, in which equal neighbours are one stretch", () => {
    const lanes = lanesOf(ALL, NOW);
    expect(lanes.map((each) => each.name)).toEqual(["home", "age"]);
    expect(lanes[0]?.stretches.map((each) => each.label)).toEqual(["Lisbon", "Porto"]);
    expect(lanes[0]?.stretches[1]?.isLast).toBe(true);
  });
});

describe("the time of a memory", () => {
  const WRITTEN = { valid_from: null, said_at: null, updated_at: "2026-05-01T10:00:00Z" };
  const SAID = { ...WRITTEN, said_at: "2023-03-04T09:00:00Z" };

  it("is when its words were said, however late it was formed", () => {
    expect(timeOf(SAID)).toBe("2023-03-04T09:00:00Z");
    expect(timeOf(WRITTEN)).toBe("2026-05-01T10:00:00Z");
  });

  it("is since when it is true, where that is known", () => {
    expect(timeOf({ ...SAID, valid_from: "2020-01-01T00:00:00Z" })).toBe("2020-01-01T00:00:00Z");
  });

  it("is of a document when it was written, once a correction by hand took the words of a field away", () => {
    const document = { ...SAID, value: { home: "Faro", name: "Mira" }, sentence: "home: Faro; name: Mira" };
    const words = [{ thread: "t", message: "a" }];
    expect(timeOf({ ...document, evidence: { "/home": words, "/name": words } })).toBe(SAID.said_at);
    expect(timeOf({ ...document, evidence: { "": words } })).toBe(SAID.said_at);
    expect(timeOf({ ...document, evidence: { "/name": words } })).toBe(SAID.updated_at);
    // The message that said something else stays behind the field that was corrected, without words.
    expect(timeOf({ ...document, evidence: { "/name": words, "/home": [{ thread: "t", message: "a", quote: "" }] } })).toBe(SAID.updated_at);
    expect(timeOf({ ...document, sentence: "Mira lives in Faro", evidence: { "/name": words } })).toBe(SAID.said_at);
    // The list is sorted by the service, which knows nothing of this: a row below older ones must not look newer.
    expect(listedAt({ ...document, evidence: { "/name": words } } as Memory)).toBe(SAID.said_at);
  });

  it("is told beside the time of the list, where a document was changed by hand long after", () => {
    const document = { ...SAID, value: { home: "Faro", name: "Mira" }, sentence: "home: Faro; name: Mira", evidence: { "/name": [{ thread: "t", message: "a" }] } };
    expect(changedSince(document)).toBe(SAID.updated_at);
    expect(changedSince({ ...document, updated_at: "2023-03-04T09:20:00Z" })).toBeUndefined();
    expect(changedSince({ ...document, evidence: { "": [{ thread: "t", message: "a" }] } })).toBeUndefined();
    expect(changedSince(WRITTEN)).toBeUndefined();
  });
});

describe("since when it is believed", () => {
  const said = (version: number, sentence: string, state: Revision["state"] = "active"): Revision => ({ ...FIRST, version, sentence, state, believed_from: `2026-01-0${version}T10:00:00Z` });
  const since = (...revisions: Revision[]) => believedSince(revisions)?.slice(0, 10);

  it("is the moment of the correction, not of what it corrected", () => {
    expect(since(said(1, "in Porto"), said(2, "in Coimbra"))).toBe("2026-01-02");
  });

  it("is the first of the versions that say the same", () => {
    expect(since(said(1, "in Porto"), said(2, "in Braga"), said(3, "in Braga"), said(4, "in Braga"))).toBe("2026-01-02");
    expect(since(said(1, "in Porto"))).toBe("2026-01-01");
  });

  it("is as before after a rejection that was undone", () => {
    const undone = { ...said(3, "in Porto"), cause: "undone" };
    expect(since(said(1, "in Porto"), said(2, "in Porto", "rejected"), undone)).toBe("2026-01-01");
    expect(since(said(1, "in Braga"), said(2, "in Braga", "rejected"), undone)).toBe("2026-01-03");
  });

  it("begins anew after a rejection", () => {
    expect(since(said(1, "in Porto"), said(2, "in Porto", "rejected"), said(3, "in Porto"))).toBe("2026-01-03");
    expect(believedSince([])).toBeUndefined();
  });
});

describe("a document of one of several speakers", () => {
  it("has the name in its key", () => {
    expect(speakerOf({ key: "@inès lópez" })).toBe("inès lópez");
    expect(speakerOf({ key: "User" })).toBeUndefined();
    expect(ownFirst([{ key: "@inès" }, { key: "User" }, { key: "@bo" }]).map((each) => each.key)).toEqual(["User", "@inès", "@bo"]);
  });
});

describe("what messages brought", () => {
  it("is listed by message with the places in the memory", () => {
    const memory = { type: "User", key: "User", evidence: { "/home": cited("a"), "/age": cited("a") } } as unknown as Memory;
    const brought = broughtBy([memory], "t");
    expect(brought.get("a")?.[0]?.pointers).toEqual(["/home", "/age"]);
    expect(broughtBy([memory], "other").size).toBe(0);
  });

  const because = [{ thread: "t", message: "a" }];
  const formation = { at: "T2", receipt: { outcomes: [{ action: "ended", type: "Fact", key: "home", because }, { action: "stored", type: "User", key: "User" }] } } as unknown as Formation;
  const home = { type: "Fact", key: "home", updated_at: "T2", evidence: {} } as unknown as Memory;

  it("tells what they ended, as the receipts name it", () => {
    const ended = endedIn([formation], "t");
    expect(ended).toEqual([{ type: "Fact", key: "home", at: "T2", messages: ["a"] }]);
    expect(endedIn([formation], "other")).toEqual([]);
    expect(withEnded(new Map(), ended, [home]).get("a")).toEqual([{ memory: home, pointers: [], quotes: [], isEnded: true }]);
  });

  it("leaves out what was written since, as by an undo", () => {
    expect(withEnded(new Map(), endedIn([formation], "t"), [{ ...home, updated_at: "T3" }]).size).toBe(0);
  });
});
