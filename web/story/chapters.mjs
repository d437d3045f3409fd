/** A story told chapter by chapter: it ends at the first one that fails, and says how. */

import axe from "axe-core";

/** Have axe look at a page, and tell what it finds. */
export async function audited(page, facts, name) {
  await page.evaluate(axe.source).catch(() => undefined);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { resultTypes: ["violations", "passes"] });
    const violations = result.violations.map((each) => ({ id: each.id, impact: each.impact, nodes: each.nodes.map((node) => node.html.slice(0, 160)) }));
    return { violations, passes: result.passes.length };
  });
  facts.tell("axe", { screen: name, ...found });
}

/** What `around` has may change from chapter to chapter: a story may open more than one browser. */
export async function told(chapters, around) {
  const { facts } = around;
  let status = 0;
  for (const [name, chapter] of Object.entries(chapters)) {
    try {
      await chapter();
      facts.tell("chapter", { name, ended: "well" });
    } catch (error) {
      status = 1;
      facts.tell("chapter", { name, ended: String(error).slice(0, 600) });
      await facts.picture(around.page, `failed-${name}`).catch(() => undefined);
      break;
    }
  }
  around.noted.violations.push(...(await around.page.evaluate(() => window.violations ?? [])));
  facts.tell("noted", around.noted);
  await around.close();
  process.exitCode = status;
}
