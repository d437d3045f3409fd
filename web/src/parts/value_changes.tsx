/** What changed in a memory's value or sentence, as a person reads it. */

import type { JsonObject } from "../api/shapes";
import { changesBetween, textDiff, type Change } from "../lib/diff";
import { shown, spoken } from "../lib/pointer";
import { useAround, useYesNo } from "../lib/session";

/** What changed from one value to another; `same` is said where nothing did. */
export function Changes({ before, after, same }: { before: JsonObject; after: JsonObject; same?: string }) {
  const { t, named } = useAround();
  const changes = changesBetween(before, after);
  if (!changes.length) return <p className="faint">{same ?? t("history.same")}</p>;
  return (
    <ul className="changes">
      {changes.map((change) => (
        <li key={change.pointer + change.kind} className={`change change-${change.kind}`}>
          <span className="change-name">{spoken(change.pointer, named) || "·"}</span>
          <ChangeWords change={change} />
        </li>
      ))}
    </ul>
  );
}

/** What a version says, with what it put in the place of what the one before said. */
export function SentenceChange({ before, after }: { before: string | undefined; after: string }) {
  return <p className="sentence-change">{before === undefined ? after : <Words before={before} after={after} />}</p>;
}

/** What was taken out and put in, word by word. */
function Words({ before, after }: { before: string; after: string }) {
  return textDiff(before, after).map((piece, place) =>
    piece.kind === "same" ? <span key={place}>{piece.text}</span> : piece.kind === "added" ? <ins key={place}>{piece.text}</ins> : <del key={place}>{piece.text}</del>,
  );
}

function ChangeWords({ change }: { change: Change }) {
  const { t } = useAround();
  const yesNo = useYesNo();
  if (change.kind === "added") return <ins aria-label={t("diff.added")}>{shown(change.after, yesNo)}</ins>;
  if (change.kind === "removed") return <del aria-label={t("diff.removed")}>{shown(change.before, yesNo)}</del>;
  return <span><Words before={shown(change.before, yesNo)} after={shown(change.after, yesNo)} /></span>;
}
