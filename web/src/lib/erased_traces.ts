/** What this browser keeps that may hold words of erased messages: talks, prompts, undo tokens, and what waits for an answer. */

import type { Scope } from "../api/shapes";
import { forgetChangesIn } from "./kept_changes";
import { keptTalks } from "./kept_talks";
import { outbox } from "./outbox";
import { turns } from "./turns";
import { forgetWrittenIn } from "./written_here";

export function forgetErasedIn(scope: Scope): void {
  turns.forget();
  keptTalks.forget();
  outbox.dropKept();
  forgetChangesIn(scope);
  forgetWrittenIn(scope);
}
