/** More than any server decodes a path. */
const maxDecodings = 5;

/** Returns how servers may read a path: as is, decoded, with repeated slashes merged, and without `;parameters`. */
export function listPathReadings(path: string): readonly string[] {
  const plain = decodePath(path);
  const single = plain.replace(/\/+/g, "/");
  return [path, plain, single, single.replace(/;[^/]*/g, "")];
}

/** Returns whether a server that decodes the path, even repeatedly, finds `.` or `..`. `URL` resolves plain ones. */
export function hasDotSegments(path: string): boolean {
  return decodePath(path)
    .split("/")
    .some((segment) => /^\.{1,2}(?:;|$)/.test(segment));
}

// Only ASCII characters have a meaning in a path, so only they are decoded.
function decodePath(path: string): string {
  let plain = path.replaceAll("\\", "/");
  for (let round = 0; round < maxDecodings; round++) {
    const before = plain;
    plain = plain
      .replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll("\\", "/");
    if (plain === before) break;
  }
  return plain;
}
