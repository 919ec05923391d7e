/** Up to this length `indexOf` is used: it is faster, and its worst case is harmless. */
const maxIndexOfChars = 32;

/**
 * Returns the offsets of all occurrences, including overlapping ones. Runs in linear time: `indexOf` takes seconds for
 * some long strings and would block the thread for everyone.
 */
export function findOccurrences(text: string, searched: string): number[] {
  const offsets: number[] = [];
  if (searched === "" || searched.length > text.length) return offsets;
  if (searched.length <= maxIndexOfChars) {
    for (let at = text.indexOf(searched); at >= 0; at = text.indexOf(searched, at + 1)) offsets.push(at);
    return offsets;
  }
  const borders = computeBorders(searched);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // After a full match, `charCodeAt` returns NaN, so matching continues with the longest possible overlap.
    while (matched > 0 && searched.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
    if (searched.charCodeAt(matched) === unit) matched += 1;
    if (matched === searched.length) offsets.push(at + 1 - matched);
  }
  return offsets;
}

/** Drops occurrences that overlap an earlier one. */
export function dropOverlapping(offsets: readonly number[], length: number): number[] {
  let end = 0;
  return offsets.filter((offset) => {
    if (offset < end) return false;
    end = offset + length;
    return true;
  });
}

/** For each prefix, the length of its longest border (Knuth–Morris–Pratt). */
function computeBorders(searched: string): Int32Array {
  const borders = new Int32Array(searched.length);
  let length = 0;
  for (let at = 1; at < searched.length; at += 1) {
    const unit = searched.charCodeAt(at);
    while (length > 0 && searched.charCodeAt(length) !== unit) length = borders[length - 1] as number;
    if (searched.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
