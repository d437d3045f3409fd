/** Each act that offers a way back, and that way: node undos.mjs ADDRESS FOLDER CHROMIUM. What stood before, between and after goes to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const main = page.locator("main");
const view = main.locator(".half-one");
/** What the service says of something, or null. */
const asked = async (path) => {
  const answer = await page.request.get(`${base}/v1/${path}`);
  return answer.ok() ? answer.json() : null;
};
const ofMemory = (address) => asked(`memories/${address}`);
const at = async (place, ready) => {
  await page.goto(`${base}/#/${place}`);
  await page.locator(ready).filter({ visible: true }).first().waitFor();
};

/** Do something, take it back by what the notice offers, and tell what stood before, between and after. */
async function backAndForth(name, { standing, act, says }) {
  const before = await standing();
  await act();
  const toast = page.locator(".toast", { hasText: says }).last();
  await toast.waitFor();
  const between = await standing();
  await button("Undo", toast).click();
  await toast.waitFor({ state: "detached" });
  facts.tell(`undo ${name}`, { before, between, after: await standing() });
}

const opened = async (key, type = "Note") => {
  await at(`memories/${type}/${key}`, ".revision");
  return () => ofMemory(`${type}/${key}`);
};

async function memory() {
  await backAndForth("end", { standing: await opened("end"), act: () => button("End", view).click(), says: "Ended" });
  await backAndForth("reject", { standing: await opened("reject"), act: () => button("Reject", view.locator(".acts")).click(), says: "Rejected" });
  await backAndForth("delete", { standing: await opened("delete"), act: () => button("Delete", view).click(), says: "Deleted" });
  const field = view.locator(".value-row", { hasText: "home" }).first();
  await backAndForth("reject a field", {
    standing: await opened("field", "Trip"), says: "Rejected",
    act: async () => {
      await field.hover();
      await field.getByRole("button", { name: "Reject home" }).click();
    },
  });
  await backAndForth("restore", { standing: await opened("restore"), act: () => button("Restore", view.locator(".revision", { hasText: "Version 1" })).click(), says: "is in force again" });
  const text = view.locator("textarea.code");
  await backAndForth("edit", {
    standing: await opened("edit"), says: "Saved as version",
    act: async () => {
      await button("Edit", view).click();
      await button("JSON", view).click();
      await text.fill((await text.inputValue()).replace("harbour", "lighthouse"));
      await button("Save", view).click();
    },
  });
}

const noteSaid = async (content) => {
  await button("Edit", view).click();
  await view.locator(".value-form textarea").last().fill(content);
  await view.getByRole("radio").first().check();
  await button("Save", view).click();
};
/** How many ways back are offered, in the notices and in the list of versions. */
const offers = async () => ({ notices: await button("Undo", page.locator(".toasts")).count(), listed: await button("Undo", view.locator(".history")).count() });

/** One way back is offered for an edit; none of an earlier one after it, nor of any after somebody else's. */
async function once() {
  await page.goto(`${base}/#/memories`);
  await page.reload();
  const standing = await opened("once");
  await noteSaid("first words");
  await page.locator(".toast", { hasText: "first words" }).waitFor();
  const first = await offers();
  await noteSaid("second words");
  await page.locator(".toast", { hasText: "second words" }).waitFor();
  const second = { ...(await offers()), shown: await page.locator(".toast").count() };
  await facts.picture(page, "one-undo");
  const { value } = await standing();
  await page.request.put(`${base}/v1/memories/Note/once`, { data: { value: { ...value, content: "third words" } } });
  await page.waitForFunction(() => !document.querySelector(".toast-undo"));
  const third = await offers();
  await noteSaid("fourth words");
  const notice = page.locator(".toast", { hasText: "fourth words" });
  await notice.waitFor();
  await button("Close", notice).click();
  await button("Undo", view.locator(".history")).waitFor();
  facts.tell("undos offered", { first, second, third, later: await offers() });
}

/** The Undo of what was changed again since, which the page has not heard of yet, is refused, offers nothing more, and its notice goes by itself. */
async function refused() {
  await page.route("**/v1/changes*", (route) => route.abort());
  await page.reload();
  await (await opened("edit"))();
  await button("End", view).click();
  const toast = page.locator(".toast", { hasText: "Ended" }).last();
  await toast.waitFor();
  const { value } = await ofMemory("Note/edit");
  await page.request.put(`${base}/v1/memories/Note/edit`, { data: { value: { ...value, content: "The harbour is closed." } } });
  await button("Undo", toast).click();
  await toast.locator(".act-failure").waitFor();
  const offered = await toast.getByRole("button", { name: "Undo" }).count();
  const told = await toast.innerText();
  await page.mouse.move(5, 5);
  await page.evaluate(() => document.activeElement?.blur());
  await toast.waitFor({ state: "detached", timeout: 20_000 });
  await page.unroute("**/v1/changes*");
  await page.reload();
  facts.tell("refused undo", { offered, told });
}

async function review() {
  for (const [name, says] of [["Approve", "Approved"], ["Reject", "Rejected"]]) {
    const key = `doubt-${name.toLowerCase()}`;
    await at("review", ".card");
    await backAndForth(`review ${name.toLowerCase()}`, { standing: () => ofMemory(`Note/${key}`), act: () => button(name, main.locator(".card", { hasText: key })).click(), says });
  }
}

/** An end that waits is asked about as one, and the count beside the place is that of what still waits. */
async function ending() {
  await at("review", ".card");
  const card = main.locator(".card", { hasText: "keeps a boat" });
  const badge = page.locator(".side-link .count").first();
  await card.getByText("Because you said").waitFor();
  facts.tell("waiting end", { card: await card.innerText(), about: await main.locator(".page-head").innerText(), badge: await badge.innerText() });
  await facts.picture(page, "waiting-end");
  await backAndForth("review end", {
    standing: () => ofMemory("Fact/boat"), says: "Ended.",
    act: async () => {
      await button("End it", card).click();
      await card.waitFor({ state: "detached" });
      facts.tell("badge after the decision", await badge.innerText());
    },
  });
  await card.waitFor();
  await backAndForth("review keep", { standing: async () => ({ waiting: (await asked("memories?state=quarantined&type=Fact")).memories.length }), act: () => button("Leave it as it is", card).click(), says: "Kept as it is." });
  await at("overview", ".waits");
  facts.tell("overview waits", await main.locator(".waits").innerText());
}

/** What a notice lies over, of what is used in the chat. */
const covered = (places) => page.evaluate((selectors) => {
  const notice = document.querySelector(".toasts").getBoundingClientRect();
  const isUnder = (element) => { const { left, right, top, bottom } = element.getBoundingClientRect(); return left < notice.right && notice.left < right && top < notice.bottom && notice.top < bottom; };
  return selectors.filter((each) => [...document.querySelectorAll(each)].some(isUnder));
}, places);

/** The home that a message tells. */
const newHome = async () => (await asked("memories?type=Fact")).memories.find((each) => each.value.object === "Braga");

/** Both homes: the former one, and that of the message. */
async function homes() {
  const [former, next] = [await ofMemory("Fact/home"), await newHome()];
  return { home: former.value, ended: former.valid_until !== null, next: next ? next.value : null };
}

async function chat() {
  await page.setViewportSize({ width: 1280, height: 800 });
  await at("chat/marked", ".stored-mark");
  await backAndForth("take back", {
    standing: () => ofMemory("Note/sister"), says: "Taken back",
    act: async () => {
      await main.locator(".marks").getByRole("button", { name: /Undo what/ }).click();
      await page.locator(".toast", { hasText: "Taken back" }).last().waitFor();
      facts.tell("notice in the chat", { over: await covered([".threads", ".talk", ".side-link"]), shown: await page.locator(".toast").filter({ visible: true }).count() });
      await facts.picture(page, "chat-notice");
    },
  });
  await at("chat/moved", ".stored-mark >> text=no longer");
  facts.tell("learnt of a move", await main.locator(".marks").allInnerTexts());
  await backAndForth("take back a move", { standing: homes, act: () => main.locator(".marks").getByRole("button", { name: /Undo what/ }).click(), says: "Taken back" });
}

/** A formed memory's own page takes back what the message did, as the chat does. */
async function formed() {
  await at(`memories/Fact/${(await newHome()).key}`, ".revision");
  const newest = view.locator(".revision").first();
  await backAndForth("a formation", { standing: homes, act: () => button("Undo", newest).click(), says: "Taken back" });
}

/** What stands again is led to, where the change that made a memory was undone on its own page. */
async function correction() {
  await at("memories/Note/job", ".revision");
  await button("Edit", view).click();
  await view.locator(".value-form textarea").last().fill("Bolt");
  await view.getByRole("radio").nth(1).check();
  await button("Save", view).click();
  await view.locator("h1", { hasText: "Bolt" }).waitFor();
  await button("Undo", view.locator(".revision").first()).click();
  const link = view.locator(".instead a");
  await link.waitFor();
  const gone = await view.innerText();
  await facts.picture(page, "undone");
  await link.click();
  await view.locator("h1", { hasText: "Acme" }).waitFor();
  facts.tell("undone correction", { gone, hash: new URL(page.url()).hash, ended: (await ofMemory("Note/job")).valid_until });
}

async function types() {
  await at("types", ".types-code");
  const area = page.locator(".types-code");
  await backAndForth("save types", {
    standing: () => asked("types"), says: "The types are in force",
    act: async () => {
      await area.fill((await area.inputValue()).replace('"description": "', '"description": "Mine. '));
      await page.getByText("The types are sound.").waitFor();
      await button("Save", main.locator(".types > .block").last()).click();
    },
  });
}

await told({ memory, once, refused, review, ending, chat, formed, correction, types }, { facts, page, noted, close });
