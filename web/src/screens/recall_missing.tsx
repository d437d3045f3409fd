/** An entry that was expected: looked for by its words or its key, with its rank or the reason why it is not there. */

import { useState } from "react";
import { api } from "../api/client";
import type { Memory, RecallAnswer, RecallEntry } from "../api/shapes";
import { useAct } from "../lib/act";
import { entryName, verdictOn, WIDE, type Verdict } from "../lib/recall_reasons";
import { filtersOf, type RecallSettings } from "../lib/recall_settings";
import { useAround, useHere, useWording } from "../lib/session";
import { TypeSign } from "../parts/said";
import { ActFailure } from "../parts/states";
import { hrefOf } from "./recall_entry";

type Candidate = Pick<RecallEntry, "kind" | "id" | "type" | "key" | "thread" | "text" | "sentence" | "content">;

const CANDIDATES = 5;

export function Missing({ asked, answer }: { asked: RecallSettings; answer: RecallAnswer }) {
  const { t } = useAround();
  const { scope } = useHere();
  const [words, setWords] = useState("");
  const [found, setFound] = useState<{ candidate: Candidate; verdict: Verdict }[] | null>(null);
  const act = useAct();
  const look = () => {
    setFound(null);
    void act.run({
      request: async () => {
        const [wide, candidates] = await Promise.all([
          api.recall(scope, { ...filtersOf(asked), limit: WIDE, render: false }),
          candidatesFor(scope, words.trim()),
        ]);
        return candidates.map((candidate) => ({ candidate, verdict: verdictOn(candidate, asked, answer, wide, Date.now()) }));
      },
      succeed: setFound,
    });
  };
  return (
    <details className="fold missing">
      <summary>{t("missing_entry")}</summary>
      <form className="ask-line" onSubmit={(event) => { event.preventDefault(); if (words.trim()) look(); }}>
        <input type="search" value={words} placeholder={t("missing_entry.words")} aria-label={t("missing_entry.words")} onChange={(event) => setWords(event.target.value)} />
        <button type="submit" disabled={!words.trim() || act.isBusy}>{t("missing_entry.look")}</button>
      </form>
      <ActFailure act={act} />
      {found && !found.length && <p className="faint" role="status">{t("missing_entry.none")}</p>}
      {found && found.length > 0 && (
        <div role="status"><ul className="verdicts">
          {found.map(({ candidate, verdict }) => (
            <li key={entryName(candidate)}>
              {candidate.type ? <TypeSign type={candidate.type} /> : <span className="badge">{t("recall.message")}</span>}
              <div>
                <a className="said" href={hrefOf(candidate, scope)}>{candidate.sentence ?? candidate.text}</a>
                <p className="verdict"><Said verdict={verdict} /></p>
              </div>
            </li>
          ))}
        </ul></div>
      )}
    </details>
  );
}

function Said({ verdict }: { verdict: Verdict }) {
  const { t } = useAround();
  const wording = useWording();
  const percent = (share: number) => wording.number(share * 100);
  switch (verdict.word) {
    case "here": return t("missing_entry.here", { rank: verdict.rank });
    case "limit": return t("missing_entry.limit", { rank: verdict.rank, limit: verdict.limit });
    case "budget": return t("missing_entry.budget", { tokens: verdict.tokens });
    case "floor": return t("missing_entry.floor", { relevance: percent(verdict.relevance), floor: percent(verdict.floor) });
    case "ended": return t("missing_entry.ended", { day: wording.day(verdict.at) });
    case "later": return t("missing_entry.later", { day: wording.day(verdict.at) });
    case "unknown": return t("missing_entry.unknown", { day: wording.day(verdict.at) });
    case "far": return t("missing_entry.far", { most: WIDE });
    default: return t(`missing_entry.${verdict.word}`);
  }
}

const ofMemory = (memory: Memory): Candidate => ({ kind: "memory", type: memory.type, key: memory.key, text: memory.text, sentence: memory.sentence, content: memory });

/** What may be meant by words or a key: whatever its state, and whether it is true or not. */
async function candidatesFor(scope: string[], words: string): Promise<Candidate[]> {
  const [byKey, byWords, ...unrecalled] = await Promise.all([
    api.memories(scope, { key: words, limit: CANDIDATES }),
    api.recall(scope, { query: words, limit: CANDIDATES, valid_at: "ever", whole: true, render: false }),
    ...(["quarantined", "rejected"] as const).map((state) => api.memories(scope, { state, limit: WIDE })),
  ]);
  const sought = words.toLowerCase();
  const hidden = unrecalled.flatMap((each) => each.memories).filter((each) => each.text.toLowerCase().includes(sought) || each.sentence.toLowerCase().includes(sought));
  const all = [...byKey.memories.map(ofMemory), ...hidden.slice(0, CANDIDATES).map(ofMemory), ...byWords.entries.filter((each) => isNamed(each, sought))];
  return [...new Map(all.map((each) => [entryName(each), each])).values()].slice(0, CANDIDATES + 3);
}

/** Whether an entry says one of the words: recall finds something for any words, also for those that stand nowhere. */
function isNamed({ text, sentence = "", key = "" }: RecallEntry, sought: string): boolean {
  const said = `${text} ${sentence} ${key}`.toLowerCase();
  return sought.split(/\s+/).some((each) => each && said.includes(each));
}
