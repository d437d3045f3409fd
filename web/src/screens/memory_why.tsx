/** The words that a memory rests on, each with who said it, and when. */

import { api } from "../api/client";
import type { Evidence, Message, Scope } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { quoteOf, withoutTold } from "../lib/evidence";
import { useAround, useHere, useWording } from "../lib/session";
import { Icon } from "../parts/icons";
import { ThreadName } from "../parts/thread_name";
import { evidenceLink, Quotes } from "../parts/value";

/** So far back from the day of the belief are messages looked for: what is older says its thread alone. */
const LOOKED_THROUGH = 100;
const THREADS = 4;

export function WhyBelieved({ evidence, until }: { evidence: readonly Evidence[]; until: string }) {
  const { scope } = useHere();
  const [said, found] = [true, false].map((isSaid) => withoutTold(evidence).filter((each) => ((each.kind ?? "message") === "message") === isSaid)) as [Evidence[], Evidence[]];
  const threads = [...new Set(said.map((each) => each.thread))].slice(0, THREADS);
  const messages = useAsked(() => messagesOf(scope, threads, until), [scope, threads, until]);
  return (
    <div className="why-believed">
      {said.length > 0 && <ul className="quotes">{said.map((each, place) => <li key={place}><SaidWords evidence={each} message={messages.value?.get(nameOf(each.thread, each.message))} /></li>)}</ul>}
      {found.length > 0 && <Quotes evidence={found} scope={scope} />}
    </div>
  );
}

function SaidWords({ evidence, message }: { evidence: Evidence; message: Message | undefined }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  return (
    <a className="quote" href={evidenceLink(evidence, scope)}>
      <Icon name="link" />
      <span>
        {quoteOf(evidence, t)}
        <span className="quote-source">{message ? `${message.name ?? t(`role.${message.role}`)} · ${wording.moment(message.time)}` : <ThreadName thread={evidence.thread} scope={scope} />}</span>
      </span>
    </a>
  );
}

const nameOf = (thread: string, message: string): string => JSON.stringify([thread, message]);

/** Without an answer the words stand alone: they are what matters. */
async function messagesOf(scope: Scope, threads: readonly string[], until: string): Promise<ReadonlyMap<string, Message>> {
  const read = await Promise.all(threads.map((thread) => api.messages(scope, thread, { last: LOOKED_THROUGH, until }).then((answer) => answer.messages, () => [])));
  return new Map(read.flat().map((each) => [nameOf(each.thread, each.id), each]));
}
