/** Review: what was formed with doubts waits here for a person. */

import { useState } from "react";
import { api } from "../api/client";
import type { Memory } from "../api/shapes";
import { useChanges, usePages } from "../lib/asking";
import { speakerOf, timeOf } from "../lib/past";
import { useAround, useHere } from "../lib/session";
import { useUndoable, wayBack } from "../lib/undo";
import { Empty, Loading, memoryLink, More, PageHead, When, Wrong } from "../parts/basics";
import { Quotes, Value } from "../parts/value";
import { useAsked } from "../lib/asking";

export default function Review() {
  const { t, tell, complain } = useAround();
  const { scope, can } = useHere();
  const change = useUndoable();
  const waiting = usePages((cursor) => api.review(scope, cursor), (answer) => answer.memories, [scope]);
  useChanges(scope, waiting.again);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const name = (memory: Memory) => `${memory.type}/${memory.key}/${memory.version}`;
  const decide = async (memory: Memory, decision: "approve" | "reject") => {
    setGone((before) => new Set(before).add(name(memory)));
    try {
      const decided = await change((undo) => api.decide(scope, memory.type, memory.key, decision, memory.version, undo));
      const undone = () => {
        setGone(new Set());
        waiting.again();
      };
      if (decided) tell(t(decision === "approve" ? "review.approved" : "review.rejected"), wayBack(scope, decided, undone));
      else undone();
    } catch (error) {
      complain(error);
      setGone((before) => new Set([...before].filter((each) => each !== name(memory))));
    }
    waiting.again();
  };
  const rows = waiting.rows.filter((each) => !gone.has(name(each)));
  return (
    <div className="page">
      <PageHead title={t("review")} about={t("review.about")} />
      <Wrong error={waiting.error} again={waiting.again} />
      {waiting.isLoading && !waiting.rows.length && !waiting.error && <Loading />}
      {!waiting.isLoading && !rows.length && !waiting.error && <Empty icon="review" title={t("review.none")}><p>{t("review.none_about")}</p></Empty>}
      <ul className="cards">
        {rows.map((memory) => (
          <li key={name(memory)} className="card">
            <header>
              <a className="type-name" href={memoryLink(memory, scope)}>{memory.type}</a>
              {speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}
              <span className="row-when"><When at={timeOf(memory)} /></span>
            </header>
            <Doubt memory={memory} />
            <Value value={memory.value} evidence={memory.evidence} scope={scope} />
            {memory.evidence[""] && <Quotes evidence={memory.evidence[""]} scope={scope} />}
            {can("write") && (
              <footer>
                <button type="button" className="accent" onClick={() => void decide(memory, "approve")}>{t("review.approve")}</button>
                <button type="button" className="danger" onClick={() => void decide(memory, "reject")} title={t("reject.about")}>{t("reject")}</button>
              </footer>
            )}
          </li>
        ))}
      </ul>
      <More hasMore={waiting.hasMore} isLoading={waiting.isLoading} more={waiting.more} />
    </div>
  );
}

function Doubt({ memory }: { memory: Memory }) {
  const { scope } = useHere();
  const history = useAsked(() => api.history(scope, memory.type, memory.key), [scope, memory.type, memory.key, memory.version]);
  const cause = history.value?.revisions.find((each) => each.version === memory.version)?.cause;
  return cause ? <p className="notice">{cause}</p> : null;
}
