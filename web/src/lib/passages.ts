/** The passage of a long text that bears on a query: it may be found by what stands far behind its beginning. */

import { soughtIn } from "./search_words";

const SENTENCE = /[^.!?。！？\n]+[.!?。！？\n]*/g;
/** What begins within so many characters is in sight from the beginning on. */
const IN_SIGHT = 240;

/** A text from the sentence on that has most of the words of a query, the rarer the more; whole if that is near its beginning. */
export function fromPassage(text: string, query: string): string {
  const sentences = [...text.matchAll(SENTENCE)];
  const said = sentences.map(([each]) => each.toLowerCase());
  const shares = new Map(soughtIn(query).map((word) => [word, 1 / said.filter((each) => each.includes(word)).length]));
  const weights = said.map((each) => [...shares].reduce((sum, [word, share]) => (each.includes(word) ? sum + share : sum), 0));
  const from = sentences[weights.indexOf(Math.max(...weights))]?.index ?? 0;
  return from < IN_SIGHT ? text : `… ${text.slice(from).trimStart()}`;
}
