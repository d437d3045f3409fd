/** What the model is called: one of fixed rules by what it is, any other by its name. */

import type { Word } from "../words";

export const modelName = (model: string, t: (word: Word) => string): string => (model.startsWith("rules/") ? t("model.rules") : model);
