/** No server decodes what it was sent so often. */
const maxDecodings = 5;

/** What servers take a path for: as it is; decoded; with several slashes as one; and without what follows a semicolon. */
export function listPathReadings(path: string): readonly string[] {
  const plain = decodePath(path);
  const single = plain.replace(/\/+/g, "/");
  return [path, plain, single, single.replace(/;[^/]*/g, "")];
}

/** Does it lead back for a server that decodes it, once or more often? Dots in plain sight were resolved before. */
export function hasDotSegments(path: string): boolean {
  return decodePath(path)
    .split("/")
    .some((segment) => /^\.{1,2}(?:;|$)/.test(segment));
}

// Whatever has a meaning in a path is ASCII, and what was a part of the path once stays one.
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
