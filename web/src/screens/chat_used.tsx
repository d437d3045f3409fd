/** What an answer used of what is remembered, and the prompt that the model got. */

import { useMemo, useState } from "react";
import { api } from "../api/client";
import type { Prompt, RecallEntry } from "../api/shapes";
import { isWrittenSince, saidThen, sourcesOf, wordsUsed, type KnownSources, type SourceReference, type UsedEntry } from "../lib/answer_sources";
import { useAsked } from "../lib/asking";
import { linkTo } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import type { TurnUse } from "../lib/turns";
import { Dialog, memoryLink } from "../parts/basics";
import { Icon } from "../parts/icons";
import { TypeSign } from "../parts/said";

const CHIPS = 3;

/** An answer: its words, and when it was given. */
interface AnswerGiven {
  text: string;
  at: string | null;
}

/** What an answer refers to, the same whether the page was left since or not, and the prompt of one that was given on this page. */
export function Used({ use, references, known, ...answer }: AnswerGiven & { use?: TurnUse; references: readonly SourceReference[]; known: KnownSources }) {
  const ordered: UsedEntry[] = useMemo(() => sourcesOf(references, known), [references, known]);
  const { t } = useAround();
  const wording = useWording();
  const [isAll, setAll] = useState(false);
  const [isPromptOpen, setPromptOpen] = useState(false);
  const shown = isAll ? ordered : ordered.filter((each) => each.isQuoted).slice(0, CHIPS);
  const rest = ordered.length - shown.length;
  const prompt = use?.prompt;
  if (!ordered.length && !prompt) return null;
  const label = !ordered.length ? "chat.used_nothing" : ordered[0]?.isQuoted ? "chat.used" : "chat.given";
  return (
    <div className="used">
      {(shown.length > 0 || !rest) && <span className="used-label" title={t(label === "chat.used" ? "chat.used_about" : "chat.given_about")}>{t(label)}</span>}
      <ul className="used-chips" role="list" aria-label={t("chat.recalled", { count: ordered.length })}>
        {shown.map((each, place) => <li key={place}>{each.position !== undefined ? <MessageChip {...each} position={each.position} /> : each.memory && <MemoryChip {...each} memory={each.memory} {...answer} />}</li>)}
      </ul>
      {isAll && <button type="button" className="plain mark-undo" onClick={() => setAll(false)}>{t("chat.used_fewer")}</button>}
      {rest > 0 && <button type="button" className="plain mark-undo" title={t(shown.length ? "chat.used_all" : "chat.given_about", { count: ordered.length })} onClick={() => setAll(true)}>{t(shown.length ? "chat.used_more" : "chat.given_more", { count: rest })}<span className="unseen"> {t("chat.used_all", { count: ordered.length })}</span></button>}
      {prompt && <button type="button" className="plain mark-undo" onClick={() => setPromptOpen(true)}>{t("chat.prompt", { tokens: wording.number(prompt.tokens) })}</button>}
      {isPromptOpen && prompt && <PromptShown prompt={prompt} close={() => setPromptOpen(false)} />}
    </div>
  );
}

/** A message that is only referred to: its words are read when it is shown, and it is left out if it is gone. */
function MessageChip({ entry, isQuoted, position }: UsedEntry & { position: number }) {
  const { scope } = useHere();
  const thread = entry.thread ?? "";
  const { value } = useAsked(() => api.messages(scope, thread, { after: position - 1, limit: 1 }), [scope, thread, position]);
  const message = value?.messages.find((each) => each.position === position);
  return message ? <Chip entry={{ ...entry, id: message.id, text: message.text }} isQuoted={isQuoted} /> : null;
}

/** A memory as it was when the answer used it: one that was changed since is looked up in its history. */
function MemoryChip({ memory, text, at, ...rest }: UsedEntry & AnswerGiven & { memory: NonNullable<UsedEntry["memory"]> }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const { type, key, version } = memory;
  const isOld = isWrittenSince(memory, at);
  const { value, error } = useAsked(async () => (isOld ? (await api.history(scope, type, key)).revisions : []), [scope, type, key, version, at]);
  if (isOld && !value && !error) return null;
  const quoting = rest.isQuoted ? text : "";
  const { then, now } = isOld ? saidThen(memory, value ?? [], at) : { then: memory };
  return <Chip {...rest} words={wordsUsed(then, quoting, named)} now={now && t("chat.now", { what: wordsUsed(now, quoting, named) })} />;
}

/** One entry; of which the answer has the words, it is said so, as is what it says now. */
function Chip({ entry, isQuoted, words = entry.text ?? "", now = "" }: { entry: Partial<RecallEntry>; isQuoted: boolean; words?: string; now?: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const title = [isQuoted ? `${t("chat.quoted")}${t("colon")}${words}` : words, now].filter(Boolean).join("\n");
  const href = entry.type ? memoryLink({ type: entry.type, key: entry.key ?? "" }, scope) : linkTo(["chat", entry.thread ?? ""], scope, { message: entry.id });
  return <a className={isQuoted ? "used-chip quoted" : "used-chip"} href={href} title={title}>{entry.type ? <TypeSign type={entry.type} isNamed={false} /> : <span className="type-sign tint-8" aria-hidden="true"><Icon name="chat" /></span>}{isQuoted && <span className="unseen">{t("chat.quoted")}{t("colon")}</span>}<span className="used-words">{words}</span>{now && <span className="unseen"> {now}</span>}</a>;
}

function PromptShown({ prompt, close }: { prompt: Prompt; close: () => void }) {
  const { t } = useAround();
  const wording = useWording();
  return (
    <Dialog title={t("chat.prompt_title")} close={close} isWide>
      <p className="hint">{t("chat.prompt_about", { tokens: wording.number(prompt.tokens) })}</p>
      <h3>{t("role.system")}</h3>
      <pre className="rendered" tabIndex={0}>{prompt.system}</pre>
      {prompt.turns.map((each, place) => (
        <section key={place}>
          <h3>{t(each.role === "user" ? "role.user" : "role.assistant")}</h3>
          <pre className="rendered" tabIndex={0}>{each.text}</pre>
        </section>
      ))}
    </Dialog>
  );
}
