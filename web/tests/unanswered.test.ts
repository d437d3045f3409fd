import { afterEach, describe, expect, it } from "vitest";
import { setOwner } from "../src/lib/owned_shelf";
import { forgetAllUnanswered, forgetUnanswered, noteSent, unansweredAs } from "../src/lib/unanswered";

const NOW = 1_000_000;
const sent = (at: number) => ({ key: "k", assistant: "", at });

afterEach(forgetAllUnanswered);

describe("a question without an answer", () => {
  it("is known at once when it has failed, and else once no answer can come any more", () => {
    noteSent("failed", sent(0));
    noteSent("asked", sent(NOW));
    expect(unansweredAs("failed", NOW)).toEqual(sent(0));
    expect([unansweredAs("asked", NOW + 59_000), unansweredAs("asked", NOW + 61_000)]).toEqual([undefined, sent(NOW)]);
    expect(unansweredAs("another", NOW)).toBeUndefined();
  });

  it("is forgotten once it is answered, with an erase, and for another key", () => {
    noteSent("a", sent(0));
    noteSent("a", null);
    expect(unansweredAs("a")).toBeUndefined();
    noteSent("b", sent(0));
    setOwner({ store: "other", scope: ["ada"] });
    expect(unansweredAs("b")).toBeUndefined();
    setOwner({ scope: [] });
    noteSent("b", sent(0));
    forgetUnanswered();
    expect(unansweredAs("b")).toBeUndefined();
  });

  it("is one of the last few", () => {
    for (let n = 0; n < 30; n++) noteSent(`m${n}`, sent(0));
    expect([unansweredAs("m9"), unansweredAs("m10")]).toEqual([undefined, sent(0)]);
  });
});
