/** A profile in time: a slider to any earlier day, and for each field how long each value was believed. */

import { useState } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Revision } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { whyOfVersion } from "../lib/causes";
import { freshEvidence } from "../lib/evidence";
import { titleOfChoice } from "../lib/choice_titles";
import { dayOf } from "../lib/days";
import { chainOf, LOOKED_THROUGH, newestOfPlaces, richest, useOthers, type Placed } from "../lib/one_after_another";
import { believedAt, daysOf, lanesOf, scaleEnd, scaleOf, ownFirst, saysNothing, spanDays } from "../lib/past";
import { go, linkTo, useRoute } from "../lib/route";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording, useYesNo } from "../lib/session";
import { daysIn, momentOf } from "../lib/time";
import { memoryLink, PageHead } from "../parts/basics";
import { Empty, Failure, Loading } from "../parts/states";
import { Quotes, Value } from "../parts/value";
import { Changes } from "../parts/value_changes";

/** What stood in the place of a memory before it, and what stands there since. */
function OneAfterAnother({ address, newest }: { address: { type: string; key: string }; newest: Revision }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const memory = { ...address, ...newest };
  const others = useOthers(scope, isDocument(newest) ? undefined : memory);
  const chain = chainOf(memory, others);
  const when = ({ valid_from: from, valid_until: until }: Placed) =>
    from && until ? `${wording.day(from)} – ${wording.day(until)}` : from ? t("profile.since", { day: wording.day(from) }) : until ? t("profile.until", { day: wording.day(until) }) : "";
  if (chain.length < 2) return null;
  return (
    <section className="block">
      <h2>{t("profile.one_after_another")}</h2>
      <ol className="one-after-another">
        {chain.map((each) => (
          <li key={each.key} className={each.key === memory.key ? "here" : undefined}>
            <span className="faint">{when(each)}</span>
            {each.key === memory.key ? <strong>{each.sentence}</strong> : <a href={linkTo(["profile", address.type, each.key], scope)}>{each.sentence}</a>}
          </li>
        ))}
      </ol>
    </section>
  );
}

export default function Profile() {
  const { t, named } = useAround();
  const { parts, query } = useRoute();
  const { scope } = useHere();
  const until = momentOf(daysIn(query));
  const profiles = useAsked(async () => {
    const known = (await api.types(scope)).types.filter((each) => each.update_mode === "patch");
    const [newest, ...found] = await Promise.all([
      api.memories(scope, { state: "active", order: "newest", limit: LOOKED_THROUGH }),
      ...known.map((each) => api.memories(scope, { type: each.name, state: "active", limit: 20 })),
    ]);
    const documents = found.flatMap((each) => ownFirst(each.memories));
    // What was true one after another, such as where somebody lived: each place once, as it is now.
    const all = [...documents, ...newestOfPlaces(newest.memories.filter((each) => !known.some((type) => type.name === each.type)))];
    return { all, first: richest(all, newest.memories) };
  }, [scope]);
  const [, type, key] = parts;
  const { all = [], first } = profiles.value ?? {};
  const chosen = type && key ? { type, key } : first;
  const listed = chosen && !all.some((each) => each.type === chosen.type && each.key === chosen.key) ? [chosen, ...all] : all;
  return (
    <div className="page">
      <PageHead title={t("profile")} about={t("profile.about")}>
        {chosen && (
          <select aria-label={t("profile.choose")} value={JSON.stringify([chosen.type, chosen.key])} onChange={(event) => go(linkTo(["profile", ...(JSON.parse(event.target.value) as string[])], scope))}>
            {listed.map((each) => <option key={`${each.type} ${each.key}`} value={JSON.stringify([each.type, each.key])}>{titleOfChoice(each, named)}</option>)}
          </select>
        )}
      </PageHead>
      <Failure error={profiles.error} again={profiles.again} />
      {profiles.isLoading && !chosen && <Loading />}
      {!profiles.isLoading && !chosen && !profiles.error && <Empty icon="time" title={t("profile.none")}><p>{t("profile.none_about")}</p><a className="button" href={linkTo(["chat"], scope)}>{t("memories.to_chat")}</a></Empty>}
      {chosen && <Timeline key={`${chosen.type} ${chosen.key} ${until}`} type={chosen.type} name={chosen.key} until={until} />}
    </div>
  );
}

function Timeline({ type, name, until }: Pick<Memory, "type"> & { name: string; until: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const history = useAsked(() => api.history(scope, type, name), [scope, type, name]);
  useChanges(scope, history.again);
  if (isGone(history.error)) return <Empty icon="time" title={t("memory.gone")}><p>{t("memory.gone_about")}</p></Empty>;
  if (history.error && !history.value) return <Failure error={history.error} again={history.again} />;
  if (!history.value) return <Loading />;
  return <Past revisions={history.value.revisions} address={{ type, key: name }} until={until} />;
}

/** A place on the scale that is so far from where its time would be is seen to be. */
const OFF_SCALE = 0.02;

/** The versions on a slider, which begins where the day that is looked at is. */
function Past({ revisions, address, until }: { revisions: Revision[]; address: { type: string; key: string }; until: string }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const yesNo = useYesNo();
  const wording = useWording();
  const [opened] = useState(() => Date.now());
  // A version that is formed while the screen is open is that of today.
  const now = Math.max(opened, ...revisions.map((each) => Date.parse(each.believed_from)));
  const end = scaleEnd(revisions, now);
  const days = [...daysOf(revisions, end).slice(0, -1), ...(until ? [Date.parse(until) + 999] : []), now].sort((one, other) => one - other);
  const oldestFirst = [...revisions].sort((one, other) => one.version - other.version);
  /* Where all happened within a day or two, the versions themselves are the steps. */
  const stops = days.length > 3 ? days : [...oldestFirst.map((each) => Date.parse(each.believed_from)), now];
  const isByDay = days.length > 3;
  // A moment and no place on the slider: each new version adds a place.
  const [shown, setShown] = useState(until ? Date.parse(until) + 999 : Infinity);
  const place = stops.filter((each) => each <= shown).length - 1;
  // Before the first version is no stop: the day itself.
  const moment = stops[place] ?? (place < 0 ? Date.parse(until) : now);
  const revision = believedAt(revisions, moment) ?? (place === stops.length - 1 ? oldestFirst[oldestFirst.length - 1] : undefined);
  const before = revision && oldestFirst.find((each) => each.version === revision.version - 1);
  const from = Date.parse(oldestFirst[0]?.believed_from ?? new Date(now).toISOString());
  const scale = scaleOf(oldestFirst.map((each) => Date.parse(each.believed_from)), end);
  const label = place === stops.length - 1 ? t("profile.today") : isByDay ? wording.day(dayOf(moment)) : wording.moment(new Date(moment).toISOString());
  const lanes = lanesOf(revisions, now, yesNo);
  const share = (at: number) => `${scale(at) * 100}%`;
  const isToScale = end === now && oldestFirst.every((each) => Math.abs(scale(Date.parse(each.believed_from)) - (Date.parse(each.believed_from) - from) / (now - from || 1)) < OFF_SCALE);
  return (
    <>
      <section className="block slider-block">
        <div className="slider-head">
          <label htmlFor="day"><strong>{label}</strong></label>
          {revision && <span className="faint">{t("memory.version", { version: revision.version })} · {whyOfVersion(revision, t, named)}</span>}
          <a className="block-link" href={memoryLink(address, scope)}>{t("panel.open")}</a>
        </div>
        <input id="day" type="range" min={0} max={stops.length - 1} value={Math.max(0, place)} aria-valuetext={label} onChange={(event) => setShown(Number(event.target.value) === stops.length - 1 ? Infinity : (stops[Number(event.target.value)] ?? Infinity))} />
        <div className="slider-ends"><span>{wording.day(isByDay ? dayOf(from) : from)}</span><span>{t("profile.today")}</span></div>
        {lanes.length > 0 && <div className="lanes" role="table" aria-label={t("profile.lanes")}>
          {lanes.map((lane) => (
            <div key={lane.name} className="lane" role="row">
              <span className="lane-name" role="rowheader">{named(lane.name.replaceAll("_", " "))}<span className="lane-now">{lane.stretches.at(-1)?.isLast ? lane.stretches.at(-1)?.label : "–"}</span></span>
              <span className="lane-track" role="cell">
                {lane.stretches.map((each, index) => (
                  <span key={index} className={each.isLast ? "stretch now" : "stretch"} style={{ left: share(each.from), width: `calc(${share(each.until)} - ${share(each.from)} - 2px)` }} title={`${each.label} · ${t("profile.days", { count: spanDays(each.from, each.until) })}`}>
                    <span>{each.label}</span>
                  </span>
                ))}
                <span className="lane-at" style={{ left: share(moment) }} />
              </span>
            </div>
          ))}
        </div>}
        {lanes.length > 0 && !isToScale && <p className="hint">{t("profile.not_to_scale")}</p>}
      </section>
      {oldestFirst.length > 0 && <OneAfterAnother address={address} newest={oldestFirst[oldestFirst.length - 1] as Revision} />}
      <div className="two">
        <section className="block">
          <h2>{place === stops.length - 1 ? t("profile.now") : t("profile.then", { day: label })}</h2>
          {revision && !saysNothing(revision) ? <Value value={revision.value} evidence={revision.evidence} scope={scope} /> : <p className="faint">{t("profile.nothing_then")}</p>}
        </section>
        {revision && <section className="block">
          <h2>{t("profile.changed")}</h2>
          <Changes before={before?.value ?? {}} after={revision.value} />
          <Quotes evidence={freshEvidence(revision, before)} scope={scope} />
        </section>}
      </div>
    </>
  );
}
