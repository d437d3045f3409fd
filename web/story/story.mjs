/** A person's way through the page: node story.mjs ADDRESS FOLDER CHROMIUM some|all|key. Facts go to standard output. */

import { gzipSync } from "node:zlib";
import axe from "axe-core";
import { openBrowser, watched } from "./browser.mjs";
import { audited as auditedBy, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium, extent] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);

const NEW_TYPE = {
  name: "User",
  description: "Update this document to keep what is known of the user.",
  update_mode: "patch",
  parameters: {
    type: "object",
    properties: {
      user_name: { type: "string" },
      home: { type: "string" },
      interests: { type: "array", items: { type: "string" } },
      favorite_locations: { type: "array", items: { type: "string" }, description: "Favourite places" },
    },
  },
};

const panel = page.locator("#memories-panel");
const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const at = async (...parts) => {
  await page.goto(`${base}/#/${parts.join("/")}`);
};

async function say(text) {
  await page.fill("#composer", text);
  await page.keyboard.press("Enter");
  await page.locator(".turn-user", { hasText: text }).waitFor();
  await button("Send").waitFor();
  await page.locator(".messages[aria-busy=false]").waitFor();
}

async function formNow() {
  await page.locator("#memories-panel button:not([disabled])", { hasText: "Form now" }).click();
  await panel.getByText("This thread is formed").waitFor();
}

const audited = (name) => auditedBy(page, facts, name);

/** A browser that runs already and has seen nothing of the page; then the same again, from its cache. */
async function firstView() {
  await page.goto(`${base}/health/live`);
  for (const name of ["first_view_ms", "second_view_ms"]) {
    const started = Date.now();
    await page.goto(base);
    await page.locator(".first-steps").waitFor();
    const waited = Date.now() - started;
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    facts.tell(name, { until_shown: waited, first_contentful_paint: Math.round(paint ?? -1) });
    const bytes = await page.evaluate(() => performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0));
    if (name === "first_view_ms") facts.tell("first_view_bytes", bytes);
  }
}

async function scriptSize() {
  const index = await (await page.request.get(`${base}/`)).text();
  const first = [...index.matchAll(/assets\/[\w.-]+\.js/g)].map((each) => each[0]);
  const known = new Set(first);
  const bytes = {};
  for (const name of known) {
    const text = await (await page.request.get(`${base}/${name}`)).text();
    bytes[name] = gzipSync(text).length;
    for (const [, other] of text.matchAll(/["'`](?:\.\/|assets\/)([\w-]+-[\w-]+\.js)["'`]/g)) known.add(`assets/${other}`);
  }
  // A reader gets the words of one language: the longest of them count.
  const languageOf = (name) => /\/(?:[a-z]+_)?(en|zh|zh_hant)(?:_late)?-/.exec(name)?.[1];
  const sum = (sizes) => sizes.reduce((all, each) => all + each, 0);
  const of = (language) => sum(Object.keys(bytes).filter((name) => languageOf(name) === language).map((name) => bytes[name]));
  const languages = [...new Set(Object.keys(bytes).map(languageOf))].filter(Boolean);
  facts.tell("script_gzip_bytes", { all: of(undefined) + Math.max(...languages.map(of)), languages: languages.length, files: Object.keys(bytes).length });
}

async function overviewOfNothing() {
  await facts.picture(page, "overview-empty");
  await audited("overview, empty");
  await page.goto(`${base}/#/nowhere`);
  await page.locator(".empty", { hasText: "There is no such place" }).waitFor();
  facts.tell("title_of_nowhere", await page.title());
  await audited("nowhere");
  await page.getByRole("link", { name: "To the overview" }).click();
  await page.locator(".first-steps").waitFor();
}

async function chatAndForm() {
  await at("chat");
  await page.locator("#composer").waitFor();
  await facts.picture(page, "empty");
  await audited("chat, empty");
  await say("My name is Ada. I live in Lisbon. My sister plays the cello.");
  await panel.getByText(/Forms in/).waitFor();
  facts.tell("countdown", await panel.locator(".countdown strong").innerText());
  await facts.picture(page, "countdown");
  await formNow();
  await panel.getByText("Lisbon").waitFor();
  facts.tell("panel_after_forming", await panel.innerText());
  facts.tell("marks", await page.locator(".stored-mark").allInnerTexts());
  await say("I moved to Porto. I like rock climbing. Where do I live?");
  await formNow();
  await panel.getByText("Porto").waitFor();
  await facts.picture(page, "chat");
  await audited("chat");
}

/** What the last answer used, and the prompt that it was given, one click away. */
async function promptOfAnswer() {
  const answer = page.locator(".turn-assistant").last();
  await answer.locator(".used-chip").first().waitFor();
  facts.tell("used", await answer.locator(".used-chip").allInnerTexts());
  await answer.getByRole("button", { name: /^Prompt · [\d,]+ tokens$/ }).click();
  await page.locator("dialog .rendered").first().waitFor();
  facts.tell("prompt", await page.locator("dialog .rendered").allInnerTexts());
  await facts.picture(page, "prompt");
  await audited("prompt");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
}

async function undoMark() {
  await page.locator(".turn", { hasText: "My sister plays" }).locator(".marks").getByRole("button", { name: /Undo what/ }).click();
  await page.locator(".toast", { hasText: "Taken back:" }).waitFor();
  await panel.getByText("plays the cello").waitFor({ state: "detached" });
  facts.tell("after_undo", await panel.innerText());
  await button("Undo", page.locator(".toast").last()).click();
  await panel.getByText("plays the cello").waitFor();
  facts.tell("after_undo_of_undo", await panel.innerText());
}

async function pasteType() {
  await at("types");
  await button("Add a type").click();
  await page.locator("dialog textarea").fill(JSON.stringify({ ...NEW_TYPE, parameters: { type: "nothing" } }));
  await button("Add to the types", page.locator("dialog")).click();
  await page.locator(".complaints").waitFor();
  facts.tell("complaint", await page.locator(".complaints").innerText());
  await facts.picture(page, "types-complaint");
  await button("Add a type").click();
  await page.locator("dialog textarea").fill(JSON.stringify(NEW_TYPE));
  await button("Add to the types", page.locator("dialog")).click();
  await page.getByText("The types are sound.").waitFor();
  await button("Save").click();
  await page.getByText("The types are in force.").waitFor();
  await page.locator(".type-list").getByText("favorite_locations").waitFor();
  facts.tell("types_in_force", await page.locator(".type-list").innerText());
  await facts.picture(page, "types");
  await audited("types");
}

async function chatOn() {
  await at("chat");
  await page.locator(".turn").first().waitFor();
  await say("My favorite place is the old lighthouse.");
  await formNow();
  await panel.getByText("the old lighthouse").first().waitFor();
  facts.tell("panel_with_new_field", await panel.innerText());
}

async function memoryInFull() {
  await at("memories");
  await page.locator(".row").first().waitFor();
  await facts.picture(page, "memories");
  await audited("memories");
  await page.fill("#search", "cello");
  await page.waitForFunction(() => /[?&]s=\w/.test(location.hash));
  // The rows of before stay in sight until the answer comes.
  await page.waitForFunction(() => document.querySelector(".row")?.textContent.includes("cello"));
  facts.tell("searched", await page.locator(".row").first().innerText());
  await at("memories", "User", "User");
  await page.locator(".revision").first().waitFor();
  facts.tell("history", await page.locator(".history").innerText());
  await facts.picture(page, "memory");
  await audited("memory");
  await page.locator(".half-one .block").first().getByText("I moved to Porto").click();
  await page.locator(".turn.wanted mark").first().waitFor();
  facts.tell("evidence", await page.locator(".turn.wanted mark").first().innerText());
  await facts.picture(page, "evidence");
}

/** What is known, what changed, and what was recalled, in sentences that lead to the memory. */
async function overviewOfSome() {
  await at("overview");
  await page.locator(".profile-fields").waitFor();
  await page.locator(".recalled-row").first().waitFor();
  await page.locator(".plot svg").first().waitFor();
  facts.tell("overview", {
    person: await page.locator("h1").innerText(),
    fields: await page.locator(".profile-fields dt").allInnerTexts(),
    sentences: await page.locator(".overview-main .sentence .said").allInnerTexts(),
    changed: await page.locator(".changed-row").first().innerText(),
    plots: await page.locator(".plot svg").count(),
    title: await page.title(),
  });
  await facts.picture(page, "overview");
  await audited("overview");
  await page.locator(".sentence", { hasText: "cello" }).first().click();
  await page.locator(".memory-head h1", { hasText: "cello" }).waitFor();
  facts.tell("title_of_memory", await page.title());
}

async function correct() {
  await at("memories", "User", "User");
  await button("Edit").click();
  await page.getByLabel("home", { exact: true }).fill("Braga");
  await facts.picture(page, "edit");
  await audited("edit");
  await button("JSON").click();
  const text = page.locator("textarea.code");
  const written = await text.inputValue();
  await text.fill('{"home": ');
  facts.tell("edit_json", { home: JSON.parse(written).home, fault: await page.locator(".edit .fault").innerText(), form: await button("Form").isDisabled() });
  await text.fill(written);
  await button("Form").click();
  facts.tell("edit_form", await page.getByLabel("home", { exact: true }).inputValue());
  await button("Save").click();
  await page.locator(".history").getByText("Braga").first().waitFor();
  facts.tell("corrected", await page.locator(".half-one .block").first().innerText());
  await page.locator(".revision", { hasText: "Version 1" }).getByRole("button", { name: "Restore" }).click();
  await page.getByText("Version 1 is in force again").waitFor();
  await page.locator(".memory-head", { hasText: "Version 7" }).waitFor();
  facts.tell("restored", await page.locator(".half-one .block").first().innerText());
  await button("Undo", page.locator(".toast", { hasText: "Version 1" })).click();
  await page.locator(".memory-head", { hasText: "Version 8" }).waitFor();
  facts.tell("restore_undone", await page.locator(".half-one .block").first().innerText());
}

async function recallAsked() {
  await at("recall");
  await facts.picture(page, "recall-empty");
  await page.fill("#search", "Where does Ada live?");
  await page.keyboard.press("Enter");
  await page.locator(".entry").first().waitFor();
  await page.getByLabel("Budget (tokens)").first().fill("40");
  await button("Recall").click();
  await page.getByText(/left out/).waitFor();
  await page.locator(".signals summary").first().click();
  await page.getByText(/left out/).click();
  facts.tell("recall", {
    entries: await page.locator(".entry-text").allInnerTexts(),
    signals: await page.locator(".signals tbody").first().innerText(),
    dropped: await page.locator(".dropped").innerText(),
    rendered: await page.locator(".rendered").innerText(),
    texts: await page.locator(".recall-sum").innerText(),
    prompt: await page.locator("summary", { hasText: "The prompt" }).innerText(),
  });
  await facts.picture(page, "recall");
  await audited("recall");
  await page.getByLabel("Among").selectOption("memories");
  await page.getByLabel("Budget (tokens)").first().fill("400");
  await button("Recall").click();
  await page.locator(".entry", { hasText: "lighthouse" }).first().waitFor();
  await facts.picture(page, "recall-memories");
  await at("memories", "User", "User");
  await page.locator(".uses li").first().waitFor();
  facts.tell("used_by", await page.locator(".uses").innerText());
}

async function timeline() {
  await at("profile");
  await page.locator("#day").waitFor();
  const now = await page.locator(".two .block").first().innerText();
  await page.locator("#day").focus();
  await page.keyboard.press("Home");
  await page.locator(".two .leaf", { hasText: "Lisbon" }).waitFor();
  facts.tell("timeline", { first: await page.locator(".two .block").first().innerText(), now });
  await facts.picture(page, "timeline");
  await audited("timeline");
}

async function rejectAndDelete() {
  await at("memories");
  await page.locator(".row", { hasText: "cello" }).click();
  await button("Reject").click();
  await page.getByText("Rejected, not to be formed again").first().waitFor();
  await page.locator(".memory-head .badge", { hasText: "rejected" }).waitFor();
  facts.tell("rejected", await page.locator(".memory-head").innerText());
  await facts.picture(page, "rejected");
  const refused = async () => (await (await page.request.get(`${base}/v1/memories?state=rejected`)).json()).memories.length;
  const refusals = await refused();
  await button("Undo", page.locator(".toast", { hasText: "Rejected" }).last()).click();
  await page.locator(".memory-head .badge", { hasText: "rejected" }).waitFor({ state: "detached" });
  facts.tell("refusals", { before_undo: refusals, after_undo: await refused() });
  await button("Reject").click();
  await page.locator(".memory-head .badge", { hasText: "rejected" }).waitFor();
  const versions = async () => (await (await page.request.get(`${base}/v1/memories/User/User/history`)).json()).revisions;
  const before = await versions();
  await at("memories", "User", "User");
  await button("Delete").click();
  await page.locator(".toast", { hasText: "Deleted:" }).waitFor();
  await page.locator(".row", { hasText: "Braga" }).waitFor({ state: "detached" });
  facts.tell("deleted", await page.locator(".half-list").innerText());
  await button("Undo", page.locator(".toast", { hasText: "Deleted:" })).click();
  await page.locator(".row", { hasText: "Braga" }).waitFor();
  facts.tell("put_back", await page.locator(".half-list").innerText());
  facts.tell("put_back_exactly", JSON.stringify(await versions()) === JSON.stringify(before));
}

async function otherScreens() {
  for (const [name, ready] of [["graph", ".graph"], ["review", ".page-head"], ["formation", ".receipts li"], ["settings", ".bars"]]) {
    await at(name);
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState("load");
    await facts.picture(page, name);
    await audited(name);
  }
  const health = page.locator(".block", { hasText: "Failures in a row" });
  facts.tell("health", { told: await health.locator(".health-line").innerText(), tasks: await health.locator("tbody th").allInnerTexts() });
  await page.getByLabel("What", { exact: true }).selectOption("scope");
  await button("Preview").click();
  await page.locator("dialog .counts").waitFor();
  facts.tell("erase_preview", await page.locator("dialog .counts").innerText());
  facts.tell("erase_is_guarded", await button("Erase for good", page.locator("dialog")).isDisabled());
  await facts.picture(page, "erase");
  await audited("erase preview");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
}

async function egoGraph() {
  for (const [key, subject, predicate, object] of [
    ["f1", "Ada", "lives in", "Porto"], ["f2", "Ada", "works with", "Grace"], ["f3", "Grace", "lives in", "Boston"],
    ["f4", "Ada", "plays", "chess"], ["f5", "Ada", "sister of", "Mia"], ["f6", "Mia", "plays", "the cello"],
  ]) {
    const answer = await page.request.put(`${base}/v1/memories/Fact/${key}`, { data: { value: { subject, predicate, object } } });
    if (!answer.ok()) facts.tell("fact_refused", await answer.text());
  }
  await page.goto(`${base}/#/graph?entity=Nobody`);
  await page.locator(".empty a").waitFor();
  facts.tell("graph_unknown", { said: await page.locator(".empty").innerText(), leads: await page.locator(".empty a").getAttribute("href") });
  await page.goto(`${base}/#/graph?entity=Ada`);
  await page.locator(".node.first").waitFor();
  const before = await page.locator(".node").count();
  await page.getByRole("button", { name: "Expand Grace" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Expand Boston" }).waitFor();
  facts.tell("graph", { before, after: await page.locator(".node").count(), rows: await page.locator(".plain-table tbody tr").count() });
  await facts.picture(page, "graph-ego");
  await audited("graph, expanded");
}

/** The checks must be able to fail: each is shown what it has to find. */
async function mutants() {
  const { page: other, noted: seen } = await watched(browser, base);
  await other.goto(`${base}/#/recall`);
  await other.locator("#search").waitFor();
  await other.evaluate(() => {
    const bad = document.createElement("button");
    document.querySelector("main").append(bad);
    const image = document.createElement("img");
    image.src = "http://127.0.0.2:9/elsewhere.png";
    image.alt = "";
    document.querySelector("main").append(image);
    const script = document.createElement("script");
    script.textContent = "window.inline = true";
    document.querySelector("main").append(script);
  });
  await other.waitForFunction(() => window.violations.length >= 2);
  await other.evaluate(axe.source);
  const found = await other.evaluate(async () => (await window.axe.run(document)).violations.map((each) => each.id));
  facts.tell("mutants", {
    axe: found, policy: await other.evaluate(() => window.violations), inline_ran: await other.evaluate(() => window.inline === true),
    elsewhere: seen.elsewhere.length,
  });
  await other.close();
}

async function keyboard() {
  await at("recall");
  await page.locator("#content").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.waitForFunction(() => location.hash.startsWith("#/memories"));
  await page.locator(".half-list").waitFor();
  await page.keyboard.press("/");
  facts.tell("slash_focuses", await page.evaluate(() => document.activeElement?.id));
  await page.locator("#content").focus();
  await page.keyboard.press("?");
  await page.locator("dialog").waitFor();
  await audited("shortcuts");
  await page.keyboard.press("Escape");
  await page.goto(`${base}/#/chat`);
  await page.locator("#composer").waitFor();
  await page.locator("#content").focus();
  const stops = [];
  for (let n = 0; n < 40; n++) {
    await page.keyboard.press("Tab");
    const id = await page.evaluate(() => document.activeElement?.id);
    stops.push(id);
    if (id === "composer") break;
  }
  facts.tell("tab_reaches_composer", stops.includes("composer"));
}

async function looks() {
  const settings = (language, theme) => page.evaluate(([l, t]) => localStorage.setItem("recollect.page", JSON.stringify({ language: l, theme: t })), [language, theme]);
  const all = [["en", "dark", 1360], ["zh", "dark", 390], ["zh", "light", 1360], ["zh-hant", "light", 390], ["zh-hant", "dark", 1360], ["en", "light", 390], ["en", "light", 820]];
  for (const [language, theme, width] of extent === "all" ? all : all.slice(0, 2)) {
    await settings(language, theme);
    await page.setViewportSize({ width, height: width < 800 ? 844 : 860 });
    const places = extent === "all" ? ["overview", "chat", "memories", "memories/User/User", "recall?q=Where%20does%20Ada%20live&budget=60", "profile", "graph?entity=Ada", "types", "settings", "formation", "review"] : ["overview", "chat", "memories/User/User", "recall?q=Where%20does%20Ada%20live&budget=60", "settings"];
    for (const place of places) {
      await page.goto(`${base}/#/${place}`);
      await page.reload();
      await page.locator("main .turn, main .row, main .entry, main .node, main .block, main .empty").filter({ visible: true }).first().waitFor();
      const name = `${language} ${theme} ${width} ${place.split("?")[0]}`;
      await facts.picture(page, name.replaceAll(/[ /]/g, "-"));
      await audited(name);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      facts.tell("overflow_px", { screen: name, px: wide });
    }
  }
  await settings("en", "light");
  await page.setViewportSize({ width: 1360, height: 860 });
}

/** A service that asks for a key, and forms by itself when the talk pauses. */
async function enterWithKey() {
  await page.goto(base);
  await page.getByLabel("Key").fill("rk_wrong");
  await page.keyboard.press("Enter");
  await page.locator(".wrong").waitFor();
  facts.tell("wrong_key", await page.locator(".wrong").innerText());
  await facts.picture(page, "key");
  await audited("key");
  await page.getByLabel("Key").fill(process.env.RECOLLECT_KEY);
  await page.keyboard.press("Enter");
  await page.locator(".first-steps").waitFor();
  await at("chat");
  await page.locator("#composer").waitFor();
  facts.tell("kept_outside_the_tab", await page.evaluate(() => JSON.stringify(localStorage).includes("rk_") || document.cookie !== ""));
}

async function formedByItself() {
  await say("I live in Lisbon. I like rock climbing.");
  await panel.getByText("rock climbing").first().waitFor();
  await panel.getByText("This thread is formed").waitFor();
  facts.tell("formed_by_itself", await panel.innerText());
  await page.locator(".stored-mark").first().waitFor();
}

async function otherScope() {
  await page.locator(".scope-button").click();
  await page.locator("dialog").getByLabel("Segments").fill("users\nada@example.org");
  await facts.picture(page, "scope");
  await audited("scope");
  await button("Go there", page.locator("dialog")).click();
  await page.waitForFunction(() => location.hash.includes("scope=users"));
  await panel.getByText("Nothing remembered yet").waitFor();
  facts.tell("other_scope", await panel.innerText());
  await at("settings");
  await button("New key").click();
  await page.locator("dialog").getByLabel("Name").fill("reader");
  await page.locator("dialog").getByLabel("write").uncheck();
  await button("New key", page.locator("dialog")).click();
  await page.locator("dialog .secret").waitFor();
  facts.tell("new_key_is_shown", (await page.locator("dialog .secret").innerText()).length > 20);
  await button("I have noted it").click();
  await page.locator(".plain-table", { hasText: "reader" }).first().waitFor();
  await button("Rotate", page.locator("tr", { hasText: "reader" })).click();
  await page.locator("dialog .secret").waitFor();
  const rotated = await page.locator("dialog .secret").innerText();
  facts.tell("rotated_key_reads", (await page.request.get(`${base}/v1/me`, { headers: { "x-api-key": rotated } })).status());
  await button("I have noted it").click();
  await button("Revoke", page.locator("tr", { hasText: "reader" })).click();
  await page.locator(".plain-table tr", { hasText: "reader" }).waitFor({ state: "detached" });
  facts.tell("revoked_key_reads", (await page.request.get(`${base}/v1/me`, { headers: { "x-api-key": rotated } })).status());
}

const WHOLE = { firstView, scriptSize, overviewOfNothing, chatAndForm, promptOfAnswer, undoMark, pasteType, chatOn, memoryInFull, correct, recallAsked, overviewOfSome, timeline, rejectAndDelete, egoGraph, settingsAndErase: otherScreens, mutants, keyboard, looks };
const CHAPTERS = extent === "key" ? { enterWithKey, formedByItself, otherScope } : WHOLE;

await told(CHAPTERS, { facts, page, noted, close });
