/** Whether a text has a word of a query: a search by meaning always finds something, also where nothing says what was asked. */

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu;
/** Endings are left off longer words, so that "lives" is found by "living". */
const STEM = 4;

/** What a text has to hold of a query: its words without their endings, in small letters. */
export function soughtIn(query: string): string[] {
  const words = query.toLowerCase().match(WORD) ?? [];
  // One character of Chinese stands in anything: two that follow each other have to be there, where there are two.
  const isIdeographic = words.length > 1 && words.every((each) => [...each].length === 1);
  const sought = isIdeographic ? words.slice(1).map((each, place) => `${words[place]}${each}`) : words;
  return sought.map((each) => ([...each].length > STEM ? [...each].slice(0, Math.max(STEM, [...each].length - 2)).join("") : each));
}

export function hasWordsOf(text: string, query: string): boolean {
  const said = text.toLowerCase();
  const sought = soughtIn(query);
  return sought.some((each) => said.includes(each));
}
