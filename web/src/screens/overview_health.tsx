/** How formation does, and what was used over time. */

import { api } from "../api/client";
import { useAsked } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { formationOf, lastDays, plotOf, type Day } from "../lib/overview";
import { daysIn } from "../lib/usage";
import { linkTo } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { When } from "../parts/basics";
import { Failure, Loading } from "../parts/states";

const DAYS = 30;
const COUNTED = ["messages", "memories", "recalls", "tokens"] as const;
/** So many of those that gave up are looked at: an erase may have taken what the newest gave up. */
const DEAD_READ = 20;
const COLOURS = { no_model: "warn", paused: "warn", waits_model: "wrong", given_up: "wrong", failing: "wrong", waiting: "accent", done: "good", none: "calm" } as const;

/** How formation does; where nothing is remembered yet, only if there is something to tell. */
export function FormationHealth({ isQuiet = false }: { isQuiet?: boolean }) {
  const { t } = useAround();
  const { me, scope } = useHere();
  const asked = useAsked(async () => {
    const [backlog, receipts, dead] = await Promise.all([api.pending(scope), api.formations(scope, null, 1), api.formations(scope, null, DEAD_READ, { status: "dead" })]);
    return { backlog, last: receipts.formations[0], dead: dead.formations };
  }, [scope]);
  useChanges(scope, asked.again);
  const state = asked.value && formationOf(asked.value.backlog, asked.value.last, asked.value.dead, me.model !== null);
  const waits = asked.value?.backlog.pending.reduce((sum, each) => sum + each.messages, 0) ?? 0;
  if (isQuiet && (!state || state === "none")) return null;
  return (
    <section className="block">
      <h2>{t("formation")}<a className="block-link" href={linkTo(["formation"], scope)}>{t("panel.open")}</a></h2>
      <Failure error={asked.error} again={asked.again} />
      {!asked.value && !asked.error && <Loading rows={1} />}
      {state && (
        <p className="formation-state">
          <span className={`state-dot state-${COLOURS[state]}`} aria-hidden="true" />
          <span>{state === "given_up" ? t(state) : t(`overview.formation.${state}`, { count: asked.value?.backlog.cursor ? `${waits}+` : waits })}{asked.value?.last && <span className="faint"> · {t("overview.last")} <When at={asked.value.last.at} /></span>}</span>
        </p>
      )}
    </section>
  );
}

/** What was used in the days up to a moment. */
export function OverTime({ until }: { until: number }) {
  const { t } = useAround();
  const { scope } = useHere();
  const usage = useAsked(() => api.usage(scope), [scope]);
  const days = usage.value ? daysIn(usage.value) : [];
  const used = COUNTED.filter((name) => lastDays(days, name, DAYS, until).some((each) => each.value));
  // Nothing is told of days of which nothing was counted.
  if (usage.value && !used.length) return null;
  return (
    <section className="block">
      <h2>{t("overview.time")}<span className="faint"> {t("overview.days", { count: DAYS })}</span></h2>
      <Failure error={usage.error} again={usage.again} />
      {!usage.value && !usage.error && <Loading rows={2} />}
      {used.length > 0 && <div className="plots">{used.map((name) => <Plot key={name} name={name} days={days} until={until} />)}</div>}
    </section>
  );
}

const WIDTH = 140;
const HEIGHT = 36;

function Plot({ name, days, until }: { name: (typeof COUNTED)[number]; days: readonly Day[]; until: number }) {
  const { t } = useAround();
  const wording = useWording();
  const values = lastDays(days, name, DAYS, until);
  const sum = values.reduce((total, each) => total + each.value, 0);
  const { line, area } = plotOf(values.map((each) => each.value), WIDTH, HEIGHT);
  const most = values.reduce((best, each) => (each.value > best.value ? each : best));
  const about = t("overview.plot", { name: t(`count.${name}`), sum: wording.number(sum), most: wording.number(most.value), day: wording.day(most.day) });
  return (
    <figure className="plot">
      <figcaption><span>{t(`count.${name}`)}</span><strong>{wording.number(sum)}</strong></figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={about}>
        <title>{about}</title>
        <path className="plot-area" d={area} />
        <path className="plot-line" d={line} vectorEffect="non-scaling-stroke" />
      </svg>
    </figure>
  );
}
