const linePattern = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;
const doubleQuotedPattern = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/;
const singleQuotedPattern = /^'([^']*)'\s*(?:#.*)?$/;
const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/** Parses `KEY=value` lines; ignores other lines, as other dotenv parsers do. */
export function parseDotenv(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    const [, key, raw] = linePattern.exec(line) ?? [];
    if (key !== undefined && raw !== undefined) values[key] = unquote(raw);
  }
  return values;
}

function unquote(raw: string): string {
  const double = doubleQuotedPattern.exec(raw)?.[1];
  if (double !== undefined) return double.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
  const single = singleQuotedPattern.exec(raw)?.[1];
  if (single !== undefined) return single;
  // Only a # after whitespace starts a comment: API keys may contain one.
  return raw.replace(/(?:^|\s+)#.*$/, "");
}
