/** Shorter ones are looked for by the engine: it is faster, and cannot take long for them. */
const shortPieceChars = 32;

/**
 * Where a piece occurs in a text, each place, also where they overlap. In time that grows with both lengths alone:
 * `indexOf` takes seconds for some long pieces, and everybody would wait.
 */
export function findOccurrences(text: string, piece: string): number[] {
  const places: number[] = [];
  if (piece === "" || piece.length > text.length) return places;
  if (piece.length <= shortPieceChars) {
    for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1)) places.push(at);
    return places;
  }
  const back = computeBorders(piece);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Behind its end there is no unit, so after a place it goes on with what may be the beginning of another.
    while (matched > 0 && piece.charCodeAt(matched) !== unit) matched = back[matched - 1] as number;
    if (piece.charCodeAt(matched) === unit) matched += 1;
    if (matched === piece.length) places.push(at + 1 - matched);
  }
  return places;
}

/** Those of the places that are left when each one is replaced, from the first on. */
export function dropOverlapping(places: readonly number[], length: number): number[] {
  let end = 0;
  return places.filter((place) => {
    if (place < end) return false;
    end = place + length;
    return true;
  });
}

/** For each beginning of the piece, how long a shorter beginning it ends with (Knuth, Morris, Pratt). */
function computeBorders(piece: string): Int32Array {
  const back = new Int32Array(piece.length);
  let length = 0;
  for (let at = 1; at < piece.length; at += 1) {
    const unit = piece.charCodeAt(at);
    while (length > 0 && piece.charCodeAt(length) !== unit) length = back[length - 1] as number;
    if (piece.charCodeAt(length) === unit) length += 1;
    back[at] = length;
  }
  return back;
}
