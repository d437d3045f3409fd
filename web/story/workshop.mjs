/** Working on what is remembered: node workshop.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited as auditedBy, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
await browser.grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
const { page, noted } = await watched(browser, base);
page.on("dialog", (dialog) => void dialog.accept());
const SCOPE = "scope=mira";
const THEN = "2025-03-12";

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const audited = (name) => auditedBy(page, facts, name);
const at = (place) => page.goto(`${base}/#/${place}${place.includes("?") ? "&" : "?"}${SCOPE}`);
const row = (words) => page.locator(".virtual .row", { hasText: words });
const bar = page.locator(".bulk");
/** What stands in the store of what the acts are about. */
const standing = async () => {
  const { memories } = await (await page.request.get(`${base}/v1/memories?${SCOPE}&type=Note&limit=100`)).json();
  return Object.fromEntries(memories.filter((each) => each.key.startsWith("w")).map((each) => [each.key, [each.state, each.valid_until !== null]]));
};

/** Each act on two that are chosen, and one undo for both. */
async function bulk() {
  for (const [act, words, query] of [["Delete", "deleted", "state=active"], ["End", "ended", "state=active"], ["Reject", "rejected", "state=active"], ["Approve", "approved", "state=quarantined"]]) {
    await at(`memories?type=Note&${query}&act=${act}`);
    await row("workshop 0").waitFor();
    const before = await standing();
    if (await page.locator(".row-choice").count() === 0) await button("Select").click();
    await page.locator("li", { hasText: "workshop 0" }).locator(".row-choice").check();
    await page.locator("li", { hasText: "workshop 1" }).locator(".row-choice").check();
    await bar.getByText("2 selected").waitFor();
    if (act === "Delete") {
      await facts.picture(page, "bulk");
      await audited("bulk");
    }
    await button(act, bar).click();
    const toast = page.locator(".toast", { hasText: `2 memories ${words}.` });
    await toast.waitFor();
    const after = await standing();
    await button("Undo", toast).click();
    await toast.waitFor({ state: "detached" });
    facts.tell(`bulk_${act.toLowerCase()}`, { before, after, back: await standing() });
    await button("Select").click();
  }
}

/** Where the last memory of a list is deleted there is nothing to choose; the list that comes back is chosen from as before. */
async function emptied() {
  await at("memories?type=Instructions");
  await row("Answer briefly").waitFor();
  await button("Select").click();
  await page.locator(".row-choice").check();
  await button("Delete", bar).click();
  const toast = page.locator(".toast", { hasText: "1 memory deleted." });
  await toast.waitFor();
  await page.getByText("No memory matches").waitFor();
  const bars = await bar.count();
  await facts.picture(page, "emptied");
  await button("Undo", toast).click();
  await row("Answer briefly").waitFor();
  facts.tell("emptied", { bars, back: await bar.count() });
  await button("Select").click();
}

/** One of those chosen was changed elsewhere meanwhile: it alone is left, and said to be. */
async function raced() {
  await at("memories?type=Note&state=active");
  await row("workshop 2").waitFor();
  await button("Select").click();
  await page.locator("li", { hasText: "workshop 2" }).locator(".row-choice").check();
  await page.locator("li", { hasText: "workshop 3" }).locator(".row-choice").check();
  let isFirst = true;
  await page.route(/\/v1\/memories\/change/, async (route) => {
    if (isFirst) await page.request.put(`${base}/v1/memories/Note/w2?${SCOPE}`, { data: { value: { note: "Changed by somebody else." } } });
    isFirst = false;
    await route.continue();
  });
  await button("End", bar).click();
  await page.locator(".toast", { hasText: "1 memory ended." }).waitFor();
  facts.tell("raced", { told: await bar.locator(".wrong").innerText(), chosen: await bar.locator("strong").innerText(), standing: await standing() });
  await facts.picture(page, "raced");
  await audited("raced");
}

async function ordered() {
  await at("memories");
  await row("Mira").first().waitFor();
  const types = () => page.locator(".virtual .type-name").allInnerTexts();
  await page.getByLabel("Order").selectOption("type");
  await page.waitForFunction(() => location.hash.includes("order=type"));
  await page.locator(".former-rows").waitFor({ state: "detached" });
  await page.waitForTimeout(300);
  facts.tell("by_type", await types());
  facts.tell("options", await page.getByLabel("Type").locator("option").allInnerTexts());
  await at("recall?q=Where%20does%20Mira%20live%3F&among=memories");
  await page.locator(".entry").first().waitFor();
  await at("memories?order=recalled");
  await page.locator(".virtual .count").first().waitFor();
  facts.tell("recalled", await page.locator(".total").innerText());
}

/** The day that was believed is carried from screen to screen, and shown beside what is believed now. */
async function believed() {
  await at(`memories?type=Fact&known=${THEN}`);
  await row("30 April 2025").waitFor();
  facts.tell("believed", { rows: await page.locator(".virtual .said").allInnerTexts(), bar: await page.locator(".time-modes").innerText() });
  await facts.picture(page, "believed");
  await audited("believed");
  await row("30 April 2025").click();
  await page.locator(".then").waitFor();
  facts.tell("then", await page.locator(".then").innerText());
  await page.getByRole("link", { name: "Recall", exact: true }).click();
  await page.locator("#search").waitFor();
  facts.tell("carried", { recall: await page.locator(".ask-options").getByLabel("Believed on").inputValue() });
  await page.getByRole("link", { name: "Graph", exact: true }).click();
  await page.locator(".plain-table tbody tr").first().waitFor();
  facts.tell("graph_then", await page.locator(".plain-table tbody").innerText());
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.locator(".changed-row").first().waitFor();
  facts.tell("overview_then", await page.locator(".overview").innerText());
  await audited("overview then");
  await page.getByRole("link", { name: "Chat", exact: true }).click();
  await page.locator(".composer-past").waitFor();
  await page.locator(".turn").first().waitFor();
  await page.locator(".panel-memory").first().waitFor();
  facts.tell("chat_then", { times: await page.locator(".turn time").evaluateAll((all) => all.map((each) => each.dateTime)), panel: await page.locator("#memories-panel").innerText(), composers: await page.locator("#composer").count(), undos: await page.locator(".marks button").count() });
  await audited("chat then");
  await facts.picture(page, "chat-then");
  await page.getByRole("link", { name: /^Review/ }).click();
  await page.getByText("Nothing waited on that day").waitFor();
  await page.getByRole("link", { name: "Timeline", exact: true }).click();
  await page.locator(".slider-head strong").waitFor();
  facts.tell("timeline_then", await page.locator(".two").innerText());
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByText("This screen is about today").waitFor();
  await page.getByRole("link", { name: "Memories", exact: true }).click();
  await button("Back to today").click();
  await page.waitForFunction(() => !location.hash.includes("known="));
  await row("29 March 2025").waitFor();
  await page.getByRole("button", { name: /^Believed on/ }).click();
  await page.locator("#believed-on").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => /known=2025-0/.test(location.hash));
  await row("29 March 2025").waitFor({ state: "detached" });
  facts.tell("by_slider", await page.evaluate(() => location.hash));
}

/** What waited on an earlier day is shown with what became of it, and cannot be decided again. */
async function waited() {
  const { memories } = await (await page.request.get(`${base}/v1/memories?${SCOPE}&type=Note&state=quarantined`)).json();
  const [one, other] = memories.filter((each) => each.key.startsWith("w9"));
  // A day ends after the decision: the moment before it is asked about.
  await page.route(/known_at=/, (route) => route.continue({ url: route.request().url().replace(/known_at=[^&]*/, `known_at=${encodeURIComponent(one.updated_at)}`) }));
  await page.request.post(`${base}/v1/memories/Note/${one.key}/approve?${SCOPE}`, { data: {}, headers: { "if-match": `"${one.version}"` } });
  await page.request.delete(`${base}/v1/memories/Note/${other.key}?${SCOPE}`);
  await at(`review?known=${one.updated_at.slice(0, 10)}`);
  await page.getByText(/^Approved on /).waitFor();
  facts.tell("waited", { cards: await page.locator(".card").allInnerTexts(), buttons: await page.locator(".card button").count() });
  await audited("waited");
  await page.unrouteAll();
}

/** What waits is shown with what was said since, in each language: links to the memory and to its message. */
async function since() {
  const post = (path, data) => page.request.post(`${base}/v1/${path}?${SCOPE}`, { data });
  await post("memories/Note/w90/restore", { version: 1 });
  await post("threads/later/messages", { messages: [{ role: "user", text: "The workshop 0 waits no more.", id: "since1" }] });
  const evidence = { "/note": [{ thread: "later", message: "since1", quote: "waits no more" }] };
  await page.request.put(`${base}/v1/memories/Note/later?${SCOPE}`, { data: { value: { note: "The workshop 0 waits no more." }, evidence } });
  const card = page.locator(".card", { hasText: "The workshop 0 waits." });
  const told = {};
  for (const language of ["zh", "zh-hant", "en"]) {
    await page.evaluate((chosen) => localStorage.setItem("recollect.page", JSON.stringify({ language: chosen })), language);
    await page.reload();
    await at("review");
    await card.locator(".hint a").first().waitFor();
    told[language] = await card.innerText();
    await audited(`since ${language}`);
  }
  await facts.picture(page, "since");
  const links = await card.locator(".hint a").evaluateAll((all) => all.map((each) => decodeURIComponent(each.getAttribute("href"))));
  const accents = await card.locator("footer .accent").count();
  await button("Approve", card).click();
  await card.waitFor({ state: "detached" });
  facts.tell("since", { told, links, accents, standing: (await standing()).w90 });
}

async function compared() {
  await at(`recall?q=When%20is%20Mira%20moving%3F&known=2025-03-20&side=1&b_q=When%20is%20Mira%20moving%3F&b_known=${THEN}`);
  const [left, right] = [page.locator(".recall-side").nth(0), page.locator(".recall-side").nth(1)];
  await left.locator(".entry").first().waitFor();
  await right.locator(".entry .badge", { hasText: /only here|higher|lower|same place/ }).first().waitFor();
  await right.getByText("30 April 2025").first().waitFor();
  facts.tell("sides", { left: await left.locator(".entry-text").allInnerTexts(), right: await right.locator(".entry-text").allInnerTexts(), marks: await right.locator(".entry .badge").allInnerTexts() });
  await left.locator(".signals summary").first().click();
  await left.locator(".why-said").first().waitFor();
  facts.tell("why", await left.locator(".why-said").first().innerText());
  await left.locator(".why select").first().selectOption({ index: 1 });
  facts.tell("why_other", await left.locator(".why-said").first().innerText());
  await facts.picture(page, "compared");
  await audited("compared");
}

/** A question about nothing that is known, none at all, and what a row says first. */
async function unknown() {
  await at("recall?q=quantum%20chromodynamics%20lattice");
  await page.locator(".might").waitFor();
  facts.tell("unknown", { title: await page.locator("main .empty").innerText(), fold: await page.locator(".might summary").first().innerText(), shown: await page.locator(".entry").filter({ visible: true }).count() });
  await facts.picture(page, "unknown");
  await audited("unknown");
  const asked = [];
  page.on("request", (request) => request.url().includes("/v1/recall") && asked.push(request.url()));
  await at("recall?q=%20");
  await page.locator("main .empty").waitFor();
  facts.tell("unasked", { title: await page.locator("main .empty").innerText(), asked: asked.length });
  await at("recall?q=Where%20does%20Mira%20live%3F");
  await page.locator(".entry").first().waitFor();
  facts.tell("telling", await page.locator(".entry .signals > summary").evaluateAll((all) => all.map((each) => each.textContent)));
}

/** What is wrong with a type, and what parameters mean, on the Chinese page. */
async function chinese() {
  await at("types");
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "zh", theme: "light" })));
  await page.reload();
  const bad = [
    { name: "Bad name", description: "x", update_mode: "insert", parameters: { type: "object" } },
    { name: "Good", description: "x", update_mode: "never", parameters: { type: "object" } },
    { name: "Text", description: "x", update_mode: "insert", parameters: { type: "string" } },
    { name: "Range", description: "x", update_mode: "insert", parameters: { type: "object", properties: { age: { type: "integer", minimum: "none" } } } },
  ];
  await page.locator(".types-code").fill(JSON.stringify(bad));
  await page.locator(".complaints li").nth(3).waitFor();
  facts.tell("complaints", await page.locator(".complaints li").allInnerTexts());
  await facts.picture(page, "complaints");
  await at("api/recall");
  await page.locator(".api-whole tbody tr").first().waitFor();
  facts.tell("meanings", (await page.locator(".api-whole tbody td:last-child").allInnerTexts()).filter(Boolean));
  await facts.picture(page, "meanings");
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "en", theme: "light" })));
  await page.reload();
}

/** Each reason for which an entry is not there. */
async function missing() {
  const asked = async (query, words) => {
    await at(`recall?${query}`);
    await page.locator(".entry, .empty").first().waitFor();
    const field = page.getByLabel("Its words, or its key");
    if (!(await field.isVisible())) await page.getByText("An entry is missing?").click();
    await field.fill(words);
    await button("Look for it").click();
    await page.locator(".verdicts li, .missing .faint").first().waitFor();
    return Object.fromEntries((await page.locator(".verdicts li").all()).length ? await Promise.all((await page.locator(".verdicts li").all()).map(async (each) => [await each.locator("a").innerText(), await each.locator(".verdict").innerText()])) : [["", await page.locator(".missing .faint").innerText()]]);
  };
  const home = "q=Where%20does%20Mira%20live%3F";
  facts.tell("missing", {
    here: await asked(`${home}&among=memories`, "home-porto"),
    limit: await asked(`${home}&among=memories&limit=1`, "汤圆"),
    ended: await asked(home, "home-utrecht"),
    waits: await asked(home, "workshop 0 waits"),
    messages: await asked(`${home}&among=memories`, "Rui got the position at the hospital"),
    none: await asked(home, "zeppelin-qqq"),
  });
  await facts.picture(page, "missing");
  await audited("missing");
}

async function imported() {
  await at("settings");
  const field = page.getByLabel("Choose files, or drop them here");
  const lines = Array.from({ length: 1_100 }, (_, n) => JSON.stringify({ role: "user", content: `I saw lighthouse number ${n}.` }));
  lines[40] = '{"nothing": 1}';
  await field.setInputFiles({ name: "lighthouses.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(lines.join("\n")) });
  await page.locator(".report").first().waitFor();
  facts.tell("imported", await page.locator(".report").first().innerText());
  await facts.picture(page, "imported");
  await audited("imported");
  const archive = await (await page.request.get(`${base}/v1/export?${SCOPE}`)).body();
  await field.setInputFiles({ name: "export.jsonl", mimeType: "application/x-ndjson", buffer: archive });
  await page.locator(".report").first().locator("h3, summary", { hasText: "export.jsonl" }).first().waitFor();
  facts.tell("imported_export", await page.locator(".report").first().innerText());
  await page.getByLabel("Times without a zone are from").fill("Mars/Olympus");
  await field.setInputFiles({ name: "chat.json", mimeType: "application/json", buffer: Buffer.from("[]") });
  await page.locator(".act-failure").waitFor();
  facts.tell("bad_zone", await page.locator(".act-failure").innerText());
}

async function routes() {
  const other = await browser.newPage();
  await other.goto(`${base}/docs`);
  await other.locator(".api-operation").first().waitFor();
  facts.tell("docs", { title: await other.title(), operations: await other.locator(".api-operation").count() });
  await other.close();
  await at("api/recall");
  await page.locator("#api-recall pre").first().waitFor();
  facts.tell("recall_route", await page.locator("#api-recall").innerText());
  await button("Copy", page.locator("#api-recall .api-code").first()).click();
  await page.getByText("Copied.").first().waitFor();
  facts.tell("copied", await page.evaluate(() => navigator.clipboard.readText()));
  await facts.picture(page, "route");
  await audited("route");
  await page.locator("#search").fill("erase");
  await page.locator("#api-recall").waitFor({ state: "detached" });
  facts.tell("sought", await page.locator(".api-operation").count());
}

/** On a phone four places stand in the bar; behind a button are all, and a choice closes them again. */
async function handheld() {
  await page.setViewportSize({ width: 390, height: 844 });
  await at("memories");
  const places = page.locator(".places a").filter({ visible: true });
  const before = await places.count();
  await button("More").click();
  const boxes = await places.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ left, right, top, bottom }) => left >= 0 && right <= innerWidth && top > innerHeight / 2 && bottom <= innerHeight));
  await facts.picture(page, "more");
  await audited("more");
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.locator(".import, .drop").first().waitFor();
  facts.tell("places", { before, opened: boxes.length, inReach: boxes.every(Boolean), after: await places.count() });
  await page.setViewportSize({ width: 1360, height: 860 });
}

/** The same in Chinese, dark, and on a phone: nothing is wider than the window, and axe finds nothing. */
async function looks() {
  for (const [language, theme, width] of [["zh", "dark", 390], ["en", "light", 390], ["zh", "light", 1360], ["zh-hant", "light", 390]]) {
    await page.evaluate(([l, t]) => localStorage.setItem("recollect.page", JSON.stringify({ language: l, theme: t })), [language, theme]);
    await page.setViewportSize({ width, height: 844 });
    for (const place of ["memories", `memories?known=${THEN}`, `recall?q=Mira&side=1&b_q=${encodeURIComponent("汤圆")}`, "settings", "api/recall"]) {
      await at(place);
      await page.reload();
      await page.locator("main .row, main .entry, main .block, main .api-whole").first().waitFor();
      await page.waitForTimeout(300);
      const name = `${language} ${theme} ${width} ${place.split("&")[0]}`;
      if (place === "memories") {
        await page.locator(".page-acts button").first().click();
        await page.locator(".row-choice").first().check();
      }
      await facts.picture(page, name.replaceAll(/[ /?=%]/g, "-"));
      await audited(name);
      facts.tell("overflow_px", { screen: name, px: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
    }
  }
}

/** The questions that brought memories up are forgotten where they are shown; the memories stay. */
/** The field of a search has the words of the address, wherever that comes from; a question stays in its field over a look elsewhere. */
async function searched() {
  const goes = (name) => page.locator(".side").getByRole("link", { name, exact: true }).click();
  const field = page.locator("main #search");
  const found = async (words) => {
    await page.locator(".total", { hasText: words }).waitFor();
    return field.inputValue();
  };
  await at("memories");
  await field.fill("workshop");
  const told = { typed: await found("best first") };
  await goes("Memories");
  told.all = await found("memories ·");
  await page.goBack();
  told.back = await found("best first");
  await goes("Recall");
  await field.fill("Where is the balcony?");
  await goes("Memories");
  await found("memories ·");
  await goes("Recall");
  told.unasked = await field.inputValue();
  await page.keyboard.press("Enter");
  await page.locator(".recall-sum").waitFor();
  await goes("Overview");
  await page.locator(".overview-ask").waitFor();
  await goes("Recall");
  told.asked = await field.inputValue();
  facts.tell("searched", told);
}

async function forgotten() {
  await page.evaluate(() => localStorage.removeItem("recollect.page"));
  await page.setViewportSize({ width: 1280, height: 800 });
  const block = page.locator("main .block", { hasText: "Recalled most" });
  const forget = async () => {
    await at("overview");
    await page.reload();
    await block.locator(".recalled-row").first().waitFor();
    const before = await block.innerText();
    await facts.picture(page, "recalled");
    await button("Forget these questions", block).click();
    await block.locator(".recalled-row").first().waitFor({ state: "detached" });
    return before;
  };
  await forget();
  await at("recall?q=What%20opens%20with%209911-KIWI");
  await page.locator(".recall-sum").waitFor();
  const before = await forget();
  facts.tell("forgotten", { before, after: await block.innerText(), buttons: await button("Forget these questions").count() });
}

await told({ bulk, emptied, raced, ordered, believed, compared, unknown, chinese, missing, searched, imported, routes, waited, handheld, looks, forgotten, since }, { facts, page, noted, close });
