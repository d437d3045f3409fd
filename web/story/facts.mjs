/** What a story finds out: one JSON line for each fact, for whoever runs it to judge. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";

export class Facts {
  constructor(folder) {
    this.folder = folder;
    this.pictures = 0;
    mkdirSync(folder, { recursive: true });
  }

  tell(name, value) {
    process.stdout.write(`${JSON.stringify({ name, value })}\n`);
  }

  async picture(page, name) {
    this.pictures += 1;
    await page.screenshot({ path: join(this.folder, `${String(this.pictures).padStart(2, "0")}-${name}.png`) });
  }
}
