const signs: [string, (data: Uint8Array) => boolean][] = [
  ["image/png", (data) => has(data, 0, "\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (data) => has(data, 0, "\xff\xd8\xff")],
  ["image/gif", (data) => has(data, 0, "GIF87a") || has(data, 0, "GIF89a")],
  ["image/webp", (data) => has(data, 0, "RIFF") && has(data, 8, "WEBP")],
];

/** Which kind of picture these bytes are, of those that models see; whatever the file is called. */
export function imageType(data: Uint8Array): string | undefined {
  return signs.find(([, isOne]) => isOne(data))?.[0];
}

function has(data: Uint8Array, at: number, bytes: string): boolean {
  return data.length >= at + bytes.length && Array.from(bytes).every((byte, index) => data[at + index] === byte.charCodeAt(0));
}
