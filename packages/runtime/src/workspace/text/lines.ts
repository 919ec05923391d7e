/** Splits a text into lines that keep their line endings; the last one may have none. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let from = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
    lines.push(text.slice(from, end + 1));
    from = end + 1;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}

export function countLineEnds(text: string, to = text.length): number {
  let count = 0;
  for (let index = 0; index < to; index += 1) if (text.charCodeAt(index) === 10) count += 1;
  return count;
}

/** Length of the common prefix in UTF-16 units, without splitting a character. */
export function countCommonHead(a: string, b: string): number {
  const maxLength = Math.min(a.length, b.length);
  let length = 0;
  while (length < maxLength && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return splitsPair(a, length) || splitsPair(b, length) ? length - 1 : length;
}

/** Length of the common suffix in UTF-16 units, without splitting a character or overlapping the first `head` units. */
export function countCommonTail(a: string, b: string, head: number): number {
  const maxLength = Math.min(a.length, b.length) - head;
  let length = 0;
  while (length < maxLength && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length += 1;
  return splitsPair(a, a.length - length) || splitsPair(b, b.length - length) ? length - 1 : length;
}

/** Truncates a text to `maxLength` UTF-16 units, or one less to avoid splitting a character. */
export function truncateText(text: string, maxLength: number): string {
  return text.slice(0, splitsPair(text, maxLength) ? maxLength - 1 : maxLength);
}

function splitsPair(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
