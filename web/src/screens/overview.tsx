/** Overview: what is known of a person, what changed, what waits, and how the machinery does. */

import { useState } from "react";
import { api } from "../api/client";
import type { FieldQuotes, JsonObject, Memory, NewestMemory, Overview as Glance, Revision } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { useSought } from "../lib/erasures";
import { changesBetween } from "../lib/diff";
import { NO_COUNTS } from "../lib/counts";
import { countsInForce } from "../lib/in_force";
import { formerOf, useOthers } from "../lib/one_after_another";
import { byType, changeOf, emptyWords, mainQuote, quotesOf } from "../lib/overview";
import { changedAt, isExample, saidBefore } from "../lib/overview_changes";
import { ownFirst, speakerOf, timeOf } from "../lib/past";
import { waitingBelow } from "../lib/read_below";
import { shown, spoken } from "../lib/pointer";
import { endOf } from "../lib/days";
import { go, linkTo, useRoute } from "../lib/route";
import { isDocument, pairsOf, personIn } from "../lib/sentences";
import { useAround, useHere, useWording, useYesNo } from "../lib/session";
import { daysIn, isToday, momentOf, momentsOf, type Days } from "../lib/time";
import { lookOf } from "../lib/type_looks";
import { isProposal } from "../lib/waiting";
import { Badge, memoryLink, StateBadge, When } from "../parts/basics";
import { Former, useFormer } from "../parts/former";
import { Icon } from "../parts/icons";
import { Said, TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, WhereLooked } from "../parts/states";
import { ToToday } from "../parts/to_today";
import { DeletedLately, UndoOf } from "../parts/undo_kept";
import { FormationHealth, OverTime } from "./overview_health";

const CHANGED = 6;
const TYPES = 6;

export default function Overview() {
  const { t } = useAround();
  const { query } = useRoute();
  const { scope } = useHere();
  const days = daysIn(query);
  const glance = useAsked(() => api.overview(scope, momentsOf(days)), [scope, days]);
  useChanges(scope, glance.again);
  return (
    <div className="page overview">
      {!glance.value && <h1 className={glance.error ? undefined : "unseen"} tabIndex={-1}>{t("overview")}</h1>}
      <Failure error={glance.error} again={glance.again} isBusy={glance.isLoading} />
      {!glance.value && !glance.error && <Loading rows={5} />}
      {glance.value && (glance.value.newest.length || glance.value.profiles.length
        ? <Filled key={momentOf(days)} glance={glance.value} days={days} again={glance.again} />
        : isToday(days) ? <Nothing below={glance.value.below} /> : <Empty icon="time" title={t("overview.nothing_then")}><ToToday /></Empty>)}
    </div>
  );
}

function Filled({ glance, days, again }: { glance: Glance; days: Days; again: () => void }) {
  const { t } = useAround();
  const { me, scope, can } = useHere();
  const wording = useWording();
  const isNow = isToday(days);
  const day = days.known || days.on;
  const [opened] = useState(() => Date.now());
  const profiles = ownFirst(glance.profiles);
  const person = personIn(profiles) ?? scope[scope.length - 1];
  const changed = glance.newest.map((each) => each.memory);
  // What ended while the screen is open has ended.
  const now = isNow ? Math.max(opened, ...changed.map((each) => Date.parse(each.updated_at))) : Date.parse(endOf(days.on || days.known));
  const rest = [...byType(glance.known), ...profiles.filter((each) => !isDocument(each))];
  return (
    <>
      <header className="overview-head">
        <span className="face" aria-hidden="true">{[...(person ?? "R")][0]?.toUpperCase()}</span>
        <div>
          <h1 tabIndex={-1} title={person}>{person ?? t("overview")}</h1>
          <p className="about">{isNow ? t(can("write") ? "overview.about" : "overview.about_read") : t(days.known ? "overview.about_then" : "overview.true_then", { day: wording.day(day) })}</p>
          {isExample(me, scope) && <p className="hint">{t("overview.example")}{me.temporary && ` ${t("overview.example_goes")}`}</p>}
        </div>
        <Ask />
        <OfTypes days={days} />
      </header>
      <div className="overview-columns">
        <div className="overview-main">
          <section className="block">
            <h2>{t("overview.known")}<a className="block-link" href={linkTo(["memories"], scope)}>{t("overview.all")}</a></h2>
            {profiles.filter(isDocument).map((each) => <ProfileCard key={`${each.type}/${each.key}`} memory={each} quotes={quotesOf(glance.quotes, each)} changed={changed} isNow={isNow} />)}
            {rest.length > 0 && <ul className="sentences">{rest.map((each) => <Sentence key={`${each.type}/${each.key}`} memory={each} now={now} changed={changed} isNow={isNow} words={mainQuote(quotesOf(glance.quotes, each), each)} said={saidBefore(glance.newest, each)} />)}</ul>}
          </section>
          {isNow && <Recalled glance={glance} again={again} />}
        </div>
        <div className="overview-side">
          {(isNow || days.known || glance.waiting.length > 0) && <Waiting glance={glance} isNow={!days.known} now={now} />}
          <section className="block">
            <h2>{t(isNow ? "overview.lately" : "overview.lately_then")}</h2>
            {isNow && <DeletedLately />}
            <ol className="changed">{glance.newest.slice(0, CHANGED).map((each) => <Changed key={`${each.memory.type}/${each.memory.key}`} newest={each} now={now} />)}</ol>
          </section>
          {isNow && <FormationHealth />}
          <OverTime until={now} />
          {!isNow && <p className="hint">{t("overview.today_only")}</p>}
        </div>
      </div>
    </>
  );
}

/** A number alone beside the name of a type leaves open what it counts. */
const COUNTED = {
  User: "counted.profile", Profile: "counted.profile", Fact: "counted.fact", Note: "counted.note", Instructions: "counted.instructions",
  Entity: "counted.entity", Summary: "counted.summary", Example: "counted.example", Examples: "counted.example",
} as const;

/** How many memories of each type are in force: the way to their list. */
function OfTypes({ days }: { days: Days }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const asked = useAsked(() => countsInForce(scope, days), [scope, days]);
  useChanges(scope, asked.again);
  const { total, ended, later, types } = asked.value ?? NO_COUNTS;
  return (
    <ul className="of-types" aria-label={t("overview.by_type")}>
      {total > 0 && <li className="of-all">{t("memories.total", { count: total, total: wording.number(total) })}{ended > 0 && ` · ${t("overview.ended_count", { count: ended })}`}{later > 0 && ` · ${t("memories.later_count", { count: later })}`}</li>}
      {types.slice(0, TYPES).map(({ type, count }) => (
        <li key={type}><a title={t("overview.of_type")} className={`of-type tint-${lookOf(type).tint}`} href={linkTo(["memories"], scope, { type, ...days })}><TypeSign type={type} /><span>{type in COUNTED ? t(COUNTED[type as keyof typeof COUNTED], { count }) : t("counted.other", { type: named(type), count })}</span></a></li>
      ))}
    </ul>
  );
}

/** Leads to Recall with the question: no model is called. */
function Ask() {
  const { t } = useAround();
  const { scope } = useHere();
  const [words, setWords] = useSought(scope);
  return (
    <form className="overview-ask" role="search" onSubmit={(event) => { event.preventDefault(); if (words.trim()) go(linkTo(["recall"], scope, { q: words.trim() })); }}>
      <input type="search" id="search" value={words} placeholder={t("overview.ask")} aria-label={t("overview.ask")} onChange={(event) => setWords(event.target.value)} />
    </form>
  );
}

const NO_REVISIONS: readonly Revision[] = [];

function ProfileCard({ memory, quotes, changed, isNow }: { memory: Memory; quotes: FieldQuotes["fields"]; changed: readonly Memory[]; isNow: boolean }) {
  const { named } = useAround();
  const { scope } = useHere();
  const yesNo = useYesNo();
  const { type, key, version } = memory;
  const history = useAsked(async () => (isNow && version > 1 ? (await api.history(scope, type, key)).revisions : NO_REVISIONS), [scope, type, key, version, isNow]);
  const former = useFormer(history.value ?? NO_REVISIONS, changed);
  return (
    <div className="profile-card">
      <a className="profile-of" href={memoryLink(memory, scope)}><TypeSign type={memory.type} /><TypeName type={memory.type} />{speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}</a>
      <dl className="profile-fields">
        {pairsOf(memory.value, yesNo).map((each) => <div key={each.name}><dt>{named(each.name)}</dt><dd><a href={linkTo(["memories", type, key], scope, { field: each.pointer })}>{each.text}</a></dd><RestsOn words={quotes[each.pointer]} as="dd" /><Former {...former(each.pointer)} as="dd" /></div>)}
      </dl>
    </div>
  );
}

/** Somebody's words, below what is believed because of them. */
function RestsOn({ words, as: As }: { words: string | undefined; as: "dd" | "span" }) {
  const { t } = useAround();
  return words === undefined ? null : <As className="rests-on">{t("quoted", { words })}</As>;
}

/** A memory as a line, with its words and what was true before; its state is left out where all have the same one. */
function Sentence({ memory, now, changed, isNow = false, words, said = "", hasState = true }: { memory: Memory; now: number; /** Among what changed lately stands, as a rule, what was true before. */ changed?: readonly Memory[]; isNow?: boolean; words?: string; /** What it said before it was changed. */ said?: string; hasState?: boolean }) {
  const { t } = useAround();
  const { scope } = useHere();
  const lately = changed ? formerOf(memory, changed) : [];
  const others = useOthers(scope, isNow && changed && !lately.length ? memory : undefined);
  const former = lately.length ? lately : formerOf(memory, others);
  return (
    <li>
      <a className="sentence" href={memoryLink(memory, scope)}>
        <TypeSign type={memory.type} isNamed={false} />
        <span className="sentence-said">
          <Said memory={memory} />
          <RestsOn words={words} as="span" />
          {words === undefined && said && <span className="sentence-before">{t("overview.by_hand")}<del>{said}</del></span>}
          {former.map((each) => <span key={each.key} className="sentence-before">{t("overview.before")}<del>{each.sentence}</del></span>)}
        </span>
        <span className="row-when">{hasState && <StateBadge memory={memory} now={now} />} <When at={timeOf(memory)} /></span>
      </a>
    </li>
  );
}

const KINDS = { new: "good", changed: "accent", ended: undefined, waits: "warn" } as const;

function Changed({ newest: { memory, former }, now }: { newest: NewestMemory; now: number }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const word = changeOf(memory, now);
  return (
    <li className="changed-row">
      <TypeSign type={memory.type} isNamed={false} />
      <div>
        {former && isDocument(memory) && !isProposal(memory) && changesBetween(former, memory.value).length > 0
          ? <><a href={memoryLink(memory, scope)}>{named(memory.type)}</a><FormerAndNow former={former} now={memory.value} /></>
          : <a className="said" href={memoryLink(memory, scope)}><Said memory={memory} /></a>}
        {former && !isDocument(memory) && !isProposal(memory) && <FormerAndNow former={former} now={memory.value} isNamed={false} />}
      </div>
      <p className="changed-when"><Badge kind={KINDS[word]}>{t(`overview.${word}`)}</Badge> <When at={changedAt(memory, now)} /> <UndoOf memory={memory} /></p>
    </li>
  );
}

/** Each place that changed: what it said, and what it says. */
function FormerAndNow({ former, now, isNamed = true }: { former: JsonObject; now: JsonObject; isNamed?: boolean }) {
  const { t, named } = useAround();
  const yesNo = useYesNo();
  const changes = changesBetween(former, now);
  return changes.length > 0 && (
    <ul className="former">
      {changes.map((each) => (
        <li key={each.pointer + each.kind}>
          {isNamed && <span className="said-name">{spoken(each.pointer, named)} </span>}
          {each.kind !== "added" && <del aria-label={t("diff.removed")}>{shown(each.before, yesNo)}</del>}
          {each.kind === "changed" && " → "}
          {each.kind !== "removed" && <span>{shown(each.after, yesNo)}</span>}
        </li>
      ))}
    </ul>
  );
}

function Waiting({ glance, isNow, now }: { glance: Glance; isNow: boolean; now: number }) {
  const { t } = useAround();
  const { scope } = useHere();
  const { waiting, more_waiting: hasMore } = glance;
  if (!waiting.length) return <section className="block calm"><h2><Icon name="done" />{t(isNow ? "review.none" : "overview.waiting_none_then")}</h2>{isNow && <WaitsBelow />}</section>;
  return (
    <section className="block waits">
      <h2>{t(isNow ? "overview.waiting" : "overview.waiting_then")}<a className="block-link" href={linkTo(["review"], scope)}>{t(hasMore ? "overview.review_all" : "overview.review")}</a></h2>
      <ul className="sentences">{waiting.map((each) => <Sentence key={`${each.type}/${each.key}`} memory={each} now={now} hasState={false} />)}</ul>
      {isNow && <WaitsBelow />}
    </section>
  );
}

/** That more waits below, for who looks after many: the count beside Review is of this scope. */
function WaitsBelow() {
  const { t } = useAround();
  const { scope, can } = useHere();
  const canLook = can("below");
  const asked = useAsked(async () => (canLook ? waitingBelow(scope) : undefined), [scope, canLook]);
  useChanges(scope, asked.again);
  const { total = 0, hasMore = false } = asked.value ?? {};
  if (!total) return null;
  return <p className="waits-below"><a href={linkTo(["review"], scope)}>{t("below.review")}</a> {total}{hasMore && "+"}</p>;
}

function Recalled({ glance, again }: { glance: Glance; again: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const act = useAct(again);
  return (
    <section className="block">
      <h2>{t("overview.recalled")}</h2>
      {!glance.recalled.length && <p className="faint">{t("overview.recalled_none")}</p>}
      {glance.recalled.length > 0 && <ul className="sentences">
        {glance.recalled.map(({ memory, count, query }) => (
          <li key={`${memory.type}/${memory.key}`} className="recalled-row">
            <TypeSign type={memory.type} isNamed={false} />
            <span>
              <a className="said" href={memoryLink(memory, scope)}><Said memory={memory} /></a>
              <a className="recalled-for" href={linkTo(["recall"], scope, { q: query })}>{t("overview.asked", { words: query })}</a>
            </span>
            <span className="count" title={t("overview.times", { count })}>{count}<span className="unseen"> {t("overview.times", { count })}</span></span>
          </li>
        ))}
      </ul>}
      {glance.recalled.length > 0 && can("erase") && <button type="button" className="small" disabled={act.isBusy} onClick={() => void act.run({ request: () => api.forgetRecalls(scope) })}>{t("overview.forget")}</button>}
      <ActFailure act={act} />
    </section>
  );
}

/** A scope without memories: what to do, and where there are some. */
function Nothing({ below }: { below: Glance["below"] }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const said = emptyWords(below.length, can("write"));
  const steps = [
    ["overview.first", "chat", "memories.to_chat"], ["overview.second", "formation", "overview.to_formation"], ["overview.third", "memories", "overview.to_memories"],
  ] as const;
  return (
    <>
      <header className="overview-head"><span className="face" aria-hidden="true"><Icon name="memory" /></span><div><h1 tabIndex={-1}>{t("memories.none")}</h1><p className="about">{t(said.about)}</p><WhereLooked /></div></header>
      <DeletedLately />
      <FormationHealth isQuiet />
      {below.length > 0 && (
        <section className="block">
          <h2>{t("overview.below")}</h2>
          <ul className="scope-cards">{below.map((each) => <li key={each.join("\n")}><a className="scope-card" href={linkTo(["overview"], each)}><span className="face small" aria-hidden="true">{[...(each[each.length - 1] ?? "")][0]?.toUpperCase()}</span><span>{each.join(" / ")}</span></a></li>)}</ul>
          {said.more && <p className="hint">{t(said.more)}</p>}
          <WaitsBelow />
        </section>
      )}
      {said.hasSteps && <ol className="first-steps">
        {steps.map(([words, place, act], at) => (
          <li key={place} className="block">
            <span className="step-number" aria-hidden="true">{at + 1}</span>
            <p>{t(words)}</p>
            <a className={at ? "button" : "button accent"} href={linkTo([place], scope)}>{t(act)}</a>
          </li>
        ))}
      </ol>}
      {can("write") && <p className="hint">{t("overview.import")} <a href={linkTo(["settings"], scope)}>{t("settings")}</a></p>}
    </>
  );
}
