/** Short keys of sentences: a build writes them in the place of the English ones by which words are found, which weigh more than the words. */

/** A digest (20 bits of FNV-1a) of a sentence: enough to tell apart the few that one list has. */
export function keyOf(sentence: string): string {
  let key = 0x811c9dc5;
  for (let at = 0; at < sentence.length; at++) key = Math.imul(key ^ sentence.charCodeAt(at), 0x01000193);
  return (key >>> 12).toString(36);
}

/** What a list has for a sentence, whether it was built or is as it was written. */
export const foundFor = (sentences: ReadonlyMap<string, string>, sentence: string): string | undefined => sentences.get(keyOf(sentence)) ?? sentences.get(sentence);

/** The source of a list, each `["sentence", "words"]` on a line, with short keys. */
export function withShortKeys(source: string): string {
  const keys = new Set<string>();
  return source.replace(/^(\s*\[)("(?:[^"\\]|\\.)*")(?=, )/gm, (_, before: string, written: string) => {
    const key = keyOf(JSON.parse(written) as string);
    if (keys.has(key)) throw new Error(`two sentences have the key ${key}, one is ${written}: change the digest`);
    keys.add(key);
    return `${before}"${key}"`;
  });
}
