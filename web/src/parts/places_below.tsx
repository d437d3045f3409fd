/** The scopes below in which something waits for a person, each with how much, as the way there. */

import { useAsked } from "../lib/asking";
import { useChanges } from "../lib/changes";
import type { Places } from "../lib/places_below";
import { linkTo } from "../lib/route";
import { useAround, useHere } from "../lib/session";
import type { Word } from "../words";
import { Failure } from "./states";

export function PlacesBelow({ word, to, read }: { word: Word; to: string; read: (own: string[]) => Promise<Places> }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const canLook = can("below");
  const asked = useAsked(async () => (canLook ? read(scope) : undefined), [scope, canLook]);
  useChanges(scope, asked.again);
  if (asked.error) return <Failure error={asked.error} again={asked.again} />;
  if (!asked.value?.places.length) return null;
  return (
    <section className="block places-below">
      <h2>{t(word)} <span className="faint">{asked.value.total}{asked.value.hasMore && "+"}</span></h2>
      <ul className="scope-cards">{asked.value.places.map((each) => <li key={each.scope.join("\n")}><a className="scope-card" href={linkTo([to], each.scope)}><span>{each.scope.join(" / ")}</span><span className="count">{each.count}</span></a></li>)}</ul>
    </section>
  );
}
