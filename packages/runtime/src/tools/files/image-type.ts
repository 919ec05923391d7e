const signatures: [string, (data: Uint8Array) => boolean][] = [
  ["image/png", (data) => hasBytes(data, 0, "\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (data) => hasBytes(data, 0, "\xff\xd8\xff")],
  ["image/gif", (data) => hasBytes(data, 0, "GIF87a") || hasBytes(data, 0, "GIF89a")],
  ["image/webp", (data) => hasBytes(data, 0, "RIFF") && hasBytes(data, 8, "WEBP")],
];

/** Detects image types that models support by content, regardless of the file name. */
export function detectImageType(data: Uint8Array): string | undefined {
  return signatures.find(([, matches]) => matches(data))?.[0];
}

function hasBytes(data: Uint8Array, at: number, bytes: string): boolean {
  return (
    data.length >= at + bytes.length &&
    Array.from(bytes).every((byte, index) => data[at + index] === byte.charCodeAt(0))
  );
}
