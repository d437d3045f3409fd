/** What this browser keeps that may hold words of erased messages: talks, prompts, undo tokens, drafts, and what waits for an answer. */

import type { Scope } from "../api/shapes";
import { forgetErasedDrafts } from "./erased_drafts";
import { forgetChangesIn } from "./kept_changes";
import { keptTalks } from "./kept_talks";
import { outbox } from "./outbox";
import { turns } from "./turns";
import { forgetUnanswered } from "./unanswered";
import { forgetWrittenIn } from "./written_here";

/** Forget the traces of an erase in a scope; `erased` are its texts, as far as this window knows them. */
export function forgetErasedIn(scope: Scope, erased: readonly string[]): Promise<void> {
  turns.forget();
  keptTalks.forget();
  outbox.dropKept();
  forgetUnanswered();
  forgetChangesIn(scope);
  forgetWrittenIn(scope);
  return forgetErasedDrafts(scope, erased);
}
