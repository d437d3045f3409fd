/** The day that all screens look at: a button beside them that opens the slider, and what a screen shows of that day. */

import { api } from "../api/client";
import { useAsked } from "../lib/asking";
import { dayOf, earliestOf } from "../lib/days";
import { go, linkHere, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { isToday, type Days } from "../lib/time";
import type { Word } from "../words";
import { Icon } from "./icons";
import { TimeBar } from "./time_bar";

/** What each screen shows of the day that was chosen; of those that are not named the slider says it all. */
const SAYS: Record<string, Word> = {
  overview: "time.says.overview", chat: "time.says.chat", review: "time.says.review", profile: "time.says.profile",
  formation: "time.says.now", types: "time.says.now", settings: "time.says.now", api: "time.says.now",
};

/** What they show of what was true on a day, as far as is known today: the overview and the list leave out what was said later without a date, the graph has it. */
const SAYS_TRUE: Record<string, Word> = { ...SAYS, overview: "time.says.true", memories: "time.says.true", graph: "time.says.undated" };

export function DayButton({ days, isOpen, toggle }: { days: Days; isOpen: boolean; toggle: () => void }) {
  const { t } = useAround();
  const wording = useWording();
  const day = days.known || days.on;
  return (
    <button type="button" className={day ? "day-button past" : "day-button"} aria-expanded={isOpen} onClick={toggle} title={t("time.choose")}>
      <Icon name="time" /><span>{day ? wording.day(day) : t("profile.today")}</span>
    </button>
  );
}

/** The slider over the days, from the first that a memory of the scope tells of. */
export function DayStrip({ place, days, isAsked }: { place: string; days: Days; isAsked: boolean }) {
  const { t } = useAround();
  const { scope } = useHere();
  const below = useRoute().query.get("below") === "1";
  const oldest = useAsked(() => api.memories(scope, { order: "oldest", limit: 1, below }), [scope, below]);
  const memory = oldest.value?.memories[0];
  const first = earliestOf(memory ? [memory] : [], days.known || days.on || undefined);
  const change = (changed: Partial<Days>) => go(linkHere(changed), true);
  const says = isToday(days) ? undefined : (days.known ? SAYS : SAYS_TRUE)[place];
  if (!first || (first >= dayOf(Date.now()) && isToday(days))) return isAsked && !oldest.isLoading ? <div className="day-strip"><p className="notice">{t("time.only_today")}</p></div> : null;
  return (
    <div className={isAsked || !isToday(days) ? "day-strip" : "day-strip offered"}>
      <TimeBar key={place} first={first} days={days} change={change} />
      {says && <p className="day-says" role="status">{t(says)}</p>}
    </div>
  );
}
