/** What an answer used of what is remembered, and the prompt that the model got. */

import { useState } from "react";
import type { Prompt, RecallEntry } from "../api/shapes";
import { linkTo } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { usedFirst, type TurnUse } from "../lib/turns";
import { Dialog, memoryLink } from "../parts/basics";
import { Icon } from "../parts/icons";
import { TypeSign } from "../parts/said";

const CHIPS = 3;

export function Used({ use: { recalled, prompt }, answer }: { use: TurnUse; answer: string }) {
  const { t } = useAround();
  const wording = useWording();
  const [isAll, setAll] = useState(false);
  const [isPromptOpen, setPromptOpen] = useState(false);
  const ordered = usedFirst(recalled, answer);
  const quoted = ordered.filter((each) => each.isQuoted);
  const shown = isAll ? ordered : (quoted.length ? quoted : ordered).slice(0, CHIPS);
  const rest = recalled.length - shown.length;
  if (!recalled.length && !prompt) return null;
  return (
    <div className="used">
      <span className="used-label">{t(recalled.length ? "chat.used" : "chat.used_nothing")}</span>
      <ul className="used-chips" role="list" aria-label={t("chat.recalled", { count: recalled.length })}>
        {shown.map(({ entry, isQuoted }, place) => <li key={place}><Chip entry={entry} isQuoted={isQuoted} /></li>)}
      </ul>
      {rest > 0 && <button type="button" className="plain mark-undo" title={t("chat.used_all", { count: recalled.length })} onClick={() => setAll(true)}>+{rest}<span className="unseen"> {t("chat.used_all", { count: recalled.length })}</span></button>}
      {prompt && <button type="button" className="plain mark-undo" onClick={() => setPromptOpen(true)}>{t("chat.prompt", { tokens: wording.number(prompt.tokens) })}</button>}
      {isPromptOpen && prompt && <PromptShown prompt={prompt} close={() => setPromptOpen(false)} />}
    </div>
  );
}

/** One entry; of which the answer has the words, it is said so. */
function Chip({ entry, isQuoted }: { entry: Partial<RecallEntry>; isQuoted: boolean }) {
  const { t } = useAround();
  const { scope } = useHere();
  const words = entry.sentence ?? entry.text ?? "";
  const href = entry.type ? memoryLink({ type: entry.type, key: entry.key ?? "" }, scope) : linkTo(["chat", entry.thread ?? ""], scope, { message: entry.id });
  return <a className={isQuoted ? "used-chip quoted" : "used-chip"} href={href} title={isQuoted ? `${t("chat.quoted")}: ${words}` : words}>{entry.type ? <TypeSign type={entry.type} isNamed={false} /> : <span className="type-sign tint-8" aria-hidden="true"><Icon name="chat" /></span>}{isQuoted && <span className="unseen">{t("chat.quoted")}: </span>}<span className="used-words">{words}</span></a>;
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
