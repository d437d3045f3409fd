/** What a person corrects in the demonstration: node corrections.mjs ADDRESS FOLDER CHROMIUM. What the page says of it goes to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
await page.setViewportSize({ width: 1280, height: 900 });

const SCOPE = "scope=mira";
const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const view = page.locator("main .half-one");
const standing = async (path) => {
  const answer = await page.request.get(`${base}/v1/memories${path}${path.includes("?") ? "&" : "?"}${SCOPE}`);
  return answer.ok() ? answer.json() : null;
};
const fact = (key) => standing(`/Fact/${key}`);
const facts_now = async () => (await standing("?type=Fact&limit=100")).memories.map(({ key, state, sentence, valid_from, valid_until }) => ({ key, state, sentence, valid_from, valid_until }));
const opened = async (key, type = "Fact") => {
  await page.goto(`${base}/#/memories/${type}/${key}?${SCOPE}`);
  await page.locator(".revision").first().waitFor();
};
const object = view.locator(".value-form textarea").nth(2);
const notice = (says) => page.locator(".toast", { hasText: says }).last();
const undone = async (says) => {
  await button("Undo", notice(says)).click();
  await notice(says).waitFor({ state: "detached" });
};

/** Wrong from the start: the memory is corrected, and rests on no message. */
async function corrected() {
  await opened("home-porto");
  facts.tell("before", { about: await view.locator(".memory-head .about").innerText(), times: await view.locator(".facts dd").allInnerTexts() });
  await button("Edit", view).click();
  await object.fill("Coimbra");
  await facts.picture(page, "edit");
  await audited(page, facts, "edit");
  await button("Save", view).click();
  await view.locator("h1", { hasText: "Coimbra" }).waitFor();
  await view.getByText("corrected by hand", { exact: false }).first().waitFor();
  const rested = await view.locator(".why-believed .quote").allInnerTexts();
  facts.tell("corrected", { rested, about: await view.locator(".memory-head .about").innerText(), times: await view.locator(".facts dd").allInnerTexts(), toast: await notice("Saved").innerText() });
  await facts.picture(page, "corrected");
  await undone("Saved as version");
}

/** She moved: the old memory ends, a new one begins, and one Undo takes back both. */
async function moved() {
  await opened("home-porto");
  const before = await facts_now();
  await button("Edit", view).click();
  await object.fill("Coimbra");
  await view.getByRole("radio").nth(1).check();
  await facts.picture(page, "moved-edit");
  await button("Save", view).click();
  await view.locator("h1", { hasText: "Coimbra" }).waitFor();
  await facts.picture(page, "moved");
  const between = await facts_now();
  const toast = await notice("Until then").innerText();
  const why = await view.locator(".block").first().innerText();
  const about = await view.locator(".memory-head .about").innerText();
  const version = await view.locator(".revision").first().innerText();
  await undone("Until then");
  facts.tell("moved", { toast, why, about, version, before, between, after: await facts_now() });
}

/** A field of a profile changed: what it said was true until that day, and one Undo takes it back. */
async function changedProfile() {
  const [{ key }] = (await standing("?type=User&limit=1")).memories;
  const said = async () => { const { value, valid_until } = await standing(`/User/${key}`); return { partner: value.partner, valid_until }; };
  const before = await said();
  await opened(key, "User");
  await button("Edit", view).click();
  await view.getByLabel("Partner").fill("Tomas");
  await view.getByRole("radio").nth(1).check();
  await view.getByLabel("Changed on", { exact: true }).fill("2025-05-01");
  await facts.picture(page, "profile-edit");
  await audited(page, facts, "profile edit");
  await button("Save", view).click();
  await view.locator(".revision", { hasText: "True until" }).first().waitFor();
  facts.tell("profile", { before, between: await said(), rows: await view.locator(".revision").allInnerTexts() });
  await facts.picture(page, "profile-changed");
  await undone("Saved as version");
  facts.tell("profile_after", await said());
}

/** Whether it is in the window, and nothing lies over its middle. */
const isSeen = (place) => place.evaluate((element) => {
  const { top, bottom, left, width } = element.getBoundingClientRect();
  const found = document.elementFromPoint(left + width / 2, (top + bottom) / 2);
  return top >= 0 && bottom <= innerHeight && (element.contains(found) || found?.contains(element) === true);
});

/** What somebody else changed meanwhile, and the question how it is meant, are told where it is saved: in sight, however long the form is. */
async function conflicting() {
  const [{ key, value, version }] = (await standing("?type=User&limit=1")).memories;
  for (const [width, height] of [[1280, 800], [390, 800], [392, 480]]) {
    await page.setViewportSize({ width, height });
    await opened(key, "User");
    await button("Edit", view).click();
    await view.getByLabel("Home").fill("Faro");
    // What was told before goes by itself, and would stand over a low window until then.
    while (await page.locator(".toast").count()) await button("Close", page.locator(".toast").first()).click();
    const question = await isSeen(view.getByText("Was it wrong, or has it changed?"));
    await page.request.put(`${base}/v1/memories/User/${key}?${SCOPE}`, { data: { value: { ...value, home: `Braga ${width}` } } });
    await button("Save", view).click();
    const told = view.getByRole("alert");
    await told.last().waitFor();
    facts.tell(`conflict ${width}`, { question, told: await told.allInnerTexts(), seen: await Promise.all((await told.all()).map(isSeen)), save: await isSeen(button("Save", view)) });
    await facts.picture(page, `conflict-${width}`);
    await button("Cancel", view).click();
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.request.post(`${base}/v1/memories/User/${key}/restore?${SCOPE}`, { data: { version } });
}

/** Each field that is typed into stands above the question and its buttons, which stick to the end of the window. */
async function uncovered() {
  const [{ key }] = (await standing("?type=User&limit=1")).memories;
  const { width, height } = page.viewportSize();
  for (const [wide, high] of [[1280, 600], [390, 844], [390, 667], [844, 390]]) {
    await page.setViewportSize({ width: wide, height: high });
    await page.goto(`${base}/#/memories/User/${key}?${SCOPE}&field=%2Fsister`);
    await page.locator(".revision").first().waitFor();
    await button("Edit", view).click();
    await page.waitForFunction(() => document.activeElement?.closest("[data-field]"));
    await view.getByText("Was it wrong, or has it changed?").waitFor();
    while (await page.locator(".toast").count()) await button("Close", page.locator(".toast").first()).click();
    const field = page.locator(":focus");
    const seen = { opened: await isSeen(field) };
    // The first field, then the last.
    await view.getByLabel("Name").focus();
    seen.first = await isSeen(field);
    await view.getByLabel("Interests").focus();
    seen.last = await isSeen(field);
    facts.tell(`uncovered ${wide}x${high}`, seen);
    await facts.picture(page, `uncovered-${wide}x${high}`);
    await button("Cancel", view).click();
  }
  await page.setViewportSize({ width, height });
}

/** The timeline is about today, and stays so when a version is formed while it is open. */
async function newVersion() {
  const [{ key, value, version }] = (await standing("?type=User&limit=1")).memories;
  await page.goto(`${base}/#/profile/User/${key}?${SCOPE}`);
  const head = page.locator(".slider-head");
  await head.getByText(`Version ${version} `).waitFor();
  await page.request.put(`${base}/v1/memories/User/${key}?${SCOPE}`, { data: { value: { ...value, home: "Aveiro" } } });
  await page.locator(".stretch", { hasText: "Aveiro" }).waitFor();
  facts.tell("new version", { version, head: await head.innerText(), now: await page.locator(".two .block").first().innerText() });
  await page.request.post(`${base}/v1/memories/User/${key}/restore?${SCOPE}`, { data: { version } });
}

/** A field that is corrected by hand says so, and since when; the fields keep their order. */
async function byHand() {
  const [{ key }] = (await standing("?type=User&limit=1")).memories;
  const names = () => page.locator(".profile-fields dt").allInnerTexts();
  await atOverview();
  await page.locator(".profile-fields .sentence-before").first().waitFor();
  const before = await names();
  await page.locator(".profile-fields a", { hasText: "espresso" }).click();
  await page.locator(".revision").first().waitFor();
  await button("Edit", view).click();
  await page.waitForFunction(() => document.activeElement?.closest("[data-field]"));
  facts.tell("focused", await page.evaluate(() => document.activeElement.closest("[data-field]").dataset.field));
  await view.getByLabel("Partner").fill("Tomas");
  await view.getByLabel("Home").fill("Faro");
  await button("Save", view).click();
  const row = view.locator(".value-row", { hasText: "Tomas" }).locator(".sentence-before");
  await row.waitFor();
  const seen = { row: await row.innerText(), added: await view.locator(".value-row", { hasText: "Faro" }).innerText(), times: await view.locator(".facts").last().innerText() };
  await facts.picture(page, "by-hand");
  await atOverview();
  const field = page.locator(".profile-fields > div", { hasText: "Tomas" });
  await field.locator(".sentence-before").waitFor();
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width: 390, height });
  const isCut = await field.locator(".sentence-before").evaluate((each) => each.scrollWidth > each.clientWidth);
  await page.setViewportSize({ width, height });
  facts.tell("by hand", { isCut, ...seen, before, names: await names(), overview: await field.innerText() });
  await facts.picture(page, "by-hand-overview");
  await page.goto(`${base}/#/memories?${SCOPE}`);
  const listed = page.locator(".row", { hasText: "Tomas" }).locator(".row-about");
  await listed.waitFor();
  facts.tell("by hand, in the list", await listed.innerText());
  await facts.picture(page, "by-hand-list");
  await page.goto(`${base}/#/chat?${SCOPE}`);
  const card = page.locator(".panel-memory", { hasText: "Tomas" });
  await card.waitFor();
  facts.tell("by hand, in the panel", await card.locator("footer").innerText());
  await opened(key, "User");
  await button("Undo", view.locator(".revision").first()).click();
  await notice("Taken back").waitFor();
  await atOverview();
  await page.locator(".profile-fields dd", { hasText: "Rui" }).first().waitFor();
  facts.tell("order after the undo", await names());
}

/** What is restored is told in the words of that version. */
async function restored() {
  await opened("cat-tangyuan");
  const { sentence: was, version } = await fact("cat-tangyuan");
  await button("Edit", view).click();
  await object.fill("Dumpling");
  await button("Save", view).click();
  await view.locator("h1", { hasText: "Dumpling" }).waitFor();
  await button("Restore", view.locator(".revision").nth(1)).click();
  await notice("is in force again").waitFor();
  const since = view.locator(".facts", { hasText: "First believed" });
  await since.waitFor();
  facts.tell("restored", { was, toast: await notice("is in force again").innerText(), since: await since.innerText() });
  await undone("is in force again");
  await page.request.post(`${base}/v1/memories/Fact/cat-tangyuan/restore?${SCOPE}`, { data: { version } });
}

/** An ended version says since when it is so. */
async function ended() {
  await opened("home-porto");
  await button("End", view).click();
  await view.locator(".revision", { hasText: "True until" }).first().waitFor();
  await button("End", view).waitFor({ state: "detached" });
  facts.tell("ended", { why: await view.locator(".block h2").first().innerText(), ends: await button("End", view).count(), row: await view.locator(".revision").first().innerText() });
  await facts.picture(page, "ended");
  await undone("Ended");
}

/** The words of a long memory scroll: what can be done with it stays in sight. */
async function longWords() {
  const address = `${base}/v1/memories/Note/long?${SCOPE}`;
  await page.request.put(address, { data: { value: { note: "The harbour has a crane. ".repeat(240) } } });
  await opened("long", "Note");
  const words = view.locator("h1");
  await words.focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => { const { scrollTop, scrollHeight, clientHeight } = document.querySelector(".half-one h1"); return scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2; });
  const inSight = await button("Edit", view).evaluate((each) => each.getBoundingClientRect().bottom <= innerHeight);
  facts.tell("long words", { inSight, said: (await words.innerText()).length });
  await audited(page, facts, "long words");
  await page.request.delete(address);
}

/** What is rejected and restored stands there once. */
async function rejected() {
  await opened("home-porto");
  const count = async () => (await facts_now()).filter((each) => each.sentence.startsWith("Mira lives in Porto")).map((each) => each.state);
  const before = await count();
  await button("Reject", view.locator(".acts")).click();
  await view.locator(".notice", { hasText: "Rejected" }).waitFor();
  const between = await count();
  const { key } = (await facts_now()).find((each) => each.state === "rejected" && each.key !== "home-porto");
  await opened(key);
  const alone = await view.locator(".notice").innerText();
  await facts.picture(page, "rejected-copy");
  await opened("home-porto");
  await button("Restore", view.locator(".revision", { hasText: "formed from talk" }).first()).click();
  await notice("is in force again").waitFor();
  facts.tell("rejected", { before, between, alone, after: await count() });
}

/** A deleted memory can be restored at its address, long after the notice has gone. */
async function deleted() {
  await opened("cat-tangyuan");
  await button("Delete", view).click();
  await notice("Deleted").waitFor();
  const toast = await notice("Deleted").innerText();
  await notice("Deleted").getByRole("button", { name: "Close" }).click();
  await page.goto(`${base}/#/memories/Fact/cat-tangyuan?${SCOPE}`);
  await page.reload();
  await button("Restore", view).waitFor();
  const between = await fact("cat-tangyuan");
  await facts.picture(page, "deleted");
  await button("Restore", view).click();
  await page.locator(".revision").first().waitFor();
  facts.tell("deleted", { toast, between, after: (await fact("cat-tangyuan")).sentence });
}

const gone = async (says) => notice(says).getByRole("button", { name: "Close" }).click();
const atOverview = async () => {
  await page.goto(`${base}/#/overview?${SCOPE}`);
  await page.locator(".changed-row").first().waitFor();
};

/** When the notice has gone, and after a reload, what was deleted is reachable from the overview and the list. */
async function deletedLately() {
  for (const place of ["overview", "memories"]) {
    await opened("cat-tangyuan");
    await button("Delete", view).click();
    await gone("Deleted");
    await page.goto(`${base}/#/${place}?${SCOPE}`);
    await page.reload();
    const lately = page.locator(".deleted-lately");
    await lately.locator("summary").click();
    const between = { summary: await lately.locator("summary").innerText(), what: await lately.locator("li span").innerText(), standing: await fact("cat-tangyuan") };
    await facts.picture(page, `deleted-lately-${place}`);
    await audited(page, facts, `deleted lately, ${place}`);
    await button("Restore", lately).click();
    await lately.waitFor({ state: "detached" });
    facts.tell(`deleted lately, ${place}`, { between, after: (await fact("cat-tangyuan")).sentence });
  }
}

const over = async () => (await standing("?state=active&limit=100")).memories.filter(({ valid_until }) => valid_until !== null && Date.parse(valid_until) <= Date.now()).length;

/** The overview counts what is in force, and says how much has ended. */
async function counted() {
  await atOverview();
  await page.locator(".of-all").waitFor();
  const rows = await page.locator(".overview-main .sentences .type-sign").evaluateAll((signs) => signs.map((each) => each.title));
  facts.tell("counted", { all: await page.locator(".of-all").innerText(), facts: await page.locator(".of-type", { hasText: "fact" }).innerText(), shown: rows.filter((each) => each === "Fact").length, ever: (await facts_now()).length, over: await over() });
  await facts.picture(page, "counted");
}

/** A change is undone where it is listed; of one that was changed since no Undo is offered. */
async function undoneLater() {
  const ends = async () => (await fact("cat-tangyuan")).valid_until;
  const end = async () => {
    await opened("cat-tangyuan");
    await button("End", view).click();
    await gone("Ended");
  };
  await end();
  await atOverview();
  await page.reload();
  const row = page.locator(".changed-row", { hasText: "Tangyuan" }).first();
  await facts.picture(page, "undo-lately");
  const between = await ends();
  await button("Undo", row).click();
  await notice("Taken back").waitFor();
  facts.tell("undone from the overview", { between, after: await ends() });
  await row.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
  await end();
  await page.request.post(`${base}/v1/memories/Fact/cat-tangyuan/restore?${SCOPE}`, { data: { version: 1 } });
  await view.locator(".revision").nth(4).waitFor();
  const offered = await button("Undo", view).count();
  await button("End", view).click();
  await gone("Ended");
  const newest = view.locator(".revision").first();
  await facts.picture(page, "undo-version");
  await button("Undo", newest).click();
  await notice("Taken back").waitFor();
  await newest.getByText("taken back").waitFor();
  facts.tell("undone from the versions", { offered, after: await ends(), row: await newest.innerText() });
}

/** What is typed outlasts a reload and a look elsewhere, until it is saved or cancelled. */
async function typed() {
  await opened("cat-tangyuan");
  await button("Edit", view).click();
  await object.fill("Dumpling");
  await page.reload();
  await object.waitFor();
  const reloaded = await object.inputValue();
  await page.goto(`${base}/#/overview?${SCOPE}`);
  await page.locator(".overview-head").first().waitFor();
  await page.goBack();
  await object.waitFor();
  const back = await object.inputValue();
  await button("Cancel", view).click();
  await page.reload();
  await page.locator(".revision").first().waitFor();
  facts.tell("typed", { reloaded, back, cancelled: await object.count() });
}

/** A memory that is being added, and types that are being changed, are there again after a look elsewhere, until they are cancelled. */
async function unfinished() {
  const elsewhere = async () => {
    await page.goto(`${base}/#/overview?${SCOPE}`);
    await page.locator(".overview-head").first().waitFor();
    await page.goBack();
  };
  const dialog = page.locator("dialog");
  const note = dialog.locator(".value-form textarea");
  const adding = async () => {
    await button("Add").click();
    await note.waitFor();
    return note.inputValue();
  };
  await page.goto(`${base}/#/memories?${SCOPE}`);
  await adding();
  await note.fill("The ferry goes at nine.");
  await elsewhere();
  const added = await adding();
  await button("Cancel", dialog).click();
  const cancelled = await adding();
  await button("Cancel", dialog).click();
  await page.goto(`${base}/#/types?${SCOPE}`);
  const types = page.locator(".types-code");
  await types.waitFor();
  const before = await types.inputValue();
  await types.fill(before.replace("Anything else", "Whatever else"));
  await elsewhere();
  await types.waitFor();
  const changed = (await types.inputValue()).includes("Whatever else");
  await button("Revert").click();
  await elsewhere();
  await types.waitFor();
  facts.tell("unfinished", { added, cancelled, changed, reverted: (await types.inputValue()) === before });
}

/** The memory that is opened from elsewhere is in sight in the list. */
async function shown() {
  await opened("bird-atlas", "Note");
  const row = page.locator(".row.here");
  await row.waitFor();
  await page.waitForTimeout(500);
  const inSight = await row.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  await page.goto(`${base}/#/memories?${SCOPE}`);
  const first = await page.locator(".row").first().getAttribute("href");
  await page.goto(`${base}/${first}`);
  await page.reload();
  await page.locator(".revision").first().waitFor();
  await page.waitForTimeout(500);
  const scrolled_px = await page.locator(".half-list").evaluate((element) => element.scrollTop);
  facts.tell("shown", { inSight, scrolled_px });
  await facts.picture(page, "shown");
}

/** The version that ended a memory names what is true since. */
async function replaced() {
  await opened("home-porto");
  await button("Edit", view).click();
  await object.fill("Coimbra");
  await view.getByRole("radio").nth(1).check();
  await button("Save", view).click();
  await view.locator("h1", { hasText: "Coimbra" }).waitFor();
  await opened("home-porto");
  facts.tell("replaced", await view.locator(".replaced").first().innerText());
  await facts.picture(page, "replaced");
}

/** Where something stands in the place of what is restored, it is asked about, and ends with it in one change. */
async function instead() {
  const homes = async () => (await facts_now()).filter((each) => each.sentence.startsWith("Mira lives in")).map(({ sentence, valid_until }) => [sentence, valid_until !== null]).sort();
  await opened("home-porto");
  const before = await homes();
  await button("Restore", view.locator(".revision", { hasText: "formed from talk" }).first()).click();
  const dialog = page.locator("dialog");
  await dialog.waitFor();
  facts.tell("asked instead", await dialog.innerText());
  await facts.picture(page, "instead");
  await audited(page, facts, "restore instead");
  await page.keyboard.press("Enter");
  await notice("is in force again").waitFor();
  const between = await homes();
  await undone("is in force again");
  facts.tell("instead", { before, between, after: await homes() });
}

/** A memory says what stood in its place before, and its timeline shows both. */
async function oneAfterAnother() {
  const { key } = (await facts_now()).find((each) => each.sentence === "Mira lives in Coimbra");
  await opened(key);
  await view.locator(".former-fact").waitFor();
  facts.tell("former", await view.locator(".former-fact").innerText());
  await facts.picture(page, "before");
  await view.getByRole("link", { name: "Timeline" }).click();
  await page.locator(".one-after-another li").first().waitFor();
  facts.tell("one after another", await page.locator(".one-after-another li").allInnerTexts());
  await facts.picture(page, "one-after-another");
  await audited(page, facts, "one after another");
  await page.locator(".one-after-another a").first().click();
  await page.locator(".one-after-another .here", { hasText: "Utrecht" }).waitFor();
}

/** Threads stand by the day of their newest message; what is typed after New thread goes into it. */
async function threads() {
  await page.goto(`${base}/#/chat?${SCOPE}`);
  await page.locator(".thread-about", { hasText: "14 Apr 2025" }).waitFor();
  await page.locator(".thread").nth(1).getByText("12 Apr 2025").waitFor();
  const dates = await page.locator(".thread-about time").allInnerTexts();
  await page.locator(".new-thread").click();
  await page.locator(".thread.here", { hasText: "New thread" }).waitFor();
  await page.keyboard.type("Hello");
  facts.tell("threads", { dates, typed: await page.locator("#composer").inputValue() });
  await facts.picture(page, "new-thread");
}

/** In Chinese the usual types, their fields and what is said of these are Chinese. */
async function inChinese() {
  await page.goto(`${base}/#/settings?${SCOPE}`);
  await page.locator("select").filter({ hasText: "中文" }).selectOption("zh");
  await page.goto(`${base}/#/memories/Fact/cat-tangyuan?${SCOPE}`);
  await page.locator(".revision").first().waitFor();
  await button("编辑", view).click();
  await object.waitFor();
  // What is said of a field comes with the types, which may be read after the memory.
  await view.getByText("另一个人、事物或值").waitFor();
  facts.tell("chinese", { form: await view.locator("form.edit").innerText(), kind: await view.locator(".memory-kind").innerText() });
  await facts.picture(page, "chinese");
  await audited(page, facts, "edit in Chinese");
}

await told({ corrected, moved, changedProfile, byHand, ended, counted, longWords, rejected, deleted, deletedLately, undoneLater, typed, unfinished, shown, replaced, instead, oneAfterAnother, restored, threads, conflicting, uncovered, newVersion, inChinese }, { facts, page, noted, close });
