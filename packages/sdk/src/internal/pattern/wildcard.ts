/**
 * Matches a text against a pattern in which `*` stands for any characters, line breaks and slashes included, and
 * everything else for itself. The parts between stars are searched one after the other without backtracking, so many
 * stars take no longer than one, and the time is proportional to the length of the text.
 */
export function matchesWildcard(text: string, pattern: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of others) {
    const found = findPart(text, part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= end;
}

/** Parts up to this length are searched with `indexOf`, which compares them at most this often per character. */
const shortPartChars = 16;

/** Like `indexOf`, but linear: for some long parts, `indexOf` compares hundreds of characters at each position. */
function findPart(text: string, part: string, from: number): number {
  if (part.length <= shortPartChars) return text.indexOf(part, from);
  const borders = computeBorders(part);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== part.charCodeAt(matched)) matched = borders[matched - 1] as number;
    if (code === part.charCodeAt(matched)) matched++;
    if (matched === part.length) return at - matched + 1;
  }
  return -1;
}

/** Computes for each prefix the length of its longest proper prefix that is also a suffix (Knuth-Morris-Pratt). */
function computeBorders(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    while (length > 0 && part[at] !== part[length]) length = borders[length - 1] as number;
    if (part[at] === part[length]) length++;
    borders[at] = length;
  }
  return borders;
}
