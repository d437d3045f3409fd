/** What the page says of the formations of the demonstration: node demonstration.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const SCOPE = "scope=mira";

async function receipts() {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.goto(`${base}/#/formation?${SCOPE}`);
    await page.locator(".receipts li").first().waitFor();
    await facts.picture(page, `${width}x${height}-receipts`);
  }
  facts.tell("receipts", await page.locator(".receipts summary > span:nth-of-type(2)").allInnerTexts());
}

async function opened() {
  await page.locator(".receipts summary").first().click();
  await page.locator(".receipt-body a").first().waitFor();
  facts.tell("opened", await page.locator(".receipt-body").first().innerText());
  await facts.picture(page, "opened");
}

await told({ receipts, opened }, { facts, page, noted, close });
