/** Patterns of well-known secrets. */
const patterns = [
  /\bthk_[A-Za-z0-9_.-]{16,}/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** Tokens and login codes of a host, which only their users' objects know, as hashes. */
const issuedTokenPattern = /\bthk_[A-Za-z0-9_-]{1,100}\.[A-Za-z0-9_-]{43}\.[A-Za-z0-9_-]{22}/g;
/** The same, possibly cut off in its second half. */
const cutTokenPattern = /\bthk_[A-Za-z0-9_-]{1,100}\.[A-Za-z0-9_-]{22,43}(?:\.[A-Za-z0-9_-]{0,22})?/g;
const maxIssuedTokenChars = 4 + 100 + 1 + 43 + 1 + 22;

/** Shorter secrets are not redacted, because they could match ordinary words. */
const minSecretChars = 8;

/** Secrets are searched for by their first characters. */
const headChars = 16;

const mark = "[redacted]";

/** One way to write a secret. */
interface Writing {
  text: string;
  /** A text that was shortened may end inside of the secret. From this many characters on, that is redacted too. */
  minChars: number;
}

/** Redacts secrets in a text that people may read. */
export type Redact = (text: string) => string;

/**
 * Redacts the secrets of one environment, plain or encoded. There is one for each of two kinds of text: `redact` is for
 * what belongs to a conversation, and changes nothing else there; `redactLog` is for logs, and also redacts everything
 * that looks like a secret. Both can be applied to JSON.
 */
export class Redactor {
  readonly #writingsByHead = new Map<string, Writing[]>();
  readonly #byFirstChar = new Map<string, string[]>();
  readonly #maxChars: number;

  constructor(secrets: Iterable<string>) {
    const writings = [...new Set(secrets)]
      .filter(({ length }) => length >= minSecretChars)
      .flatMap((secret) => {
        const minChars = Math.max(headChars, Math.ceil(secret.length / 2));
        return [...new Set(listEncodings(secret))].map((text): Writing => ({ text, minChars }));
      })
      // Longest first: one may contain another.
      .sort((a, b) => b.text.length - a.text.length);
    this.#maxChars = writings[0]?.text.length ?? 0;
    for (const writing of writings) {
      append(this.#writingsByHead, writing.text.slice(0, headChars), writing);
      append(this.#byFirstChar, writing.text.charAt(0), writing.text);
    }
  }

  readonly redact: Redact = (text) => {
    const clean = this.#replace(text, true);
    return clean.includes("thk_") ? clean.replace(cutTokenPattern, mark) : clean;
  };

  /** Redacts only complete secrets: the rest of one that is cut off may follow. */
  readonly redactComplete: Redact = (text) => {
    const clean = this.#replace(text, false);
    return clean.includes("thk_") ? clean.replace(issuedTokenPattern, mark) : clean;
  };

  #replace(text: string, withCutOnes: boolean): string {
    let clean = text;
    for (const [head, writings] of this.#writingsByHead)
      if (clean.includes(head)) clean = replaceSecrets(clean, head, writings, withCutOnes);
    return clean;
  }

  /** Redacts all texts in a JSON value; returns the same value if there is nothing to redact. */
  redactValue<T>(value: T): T {
    const json = JSON.stringify(value);
    return json === undefined || this.redact(json) === json ? value : (this.#redactDeep(value) as T);
  }

  #redactDeep(value: unknown): unknown {
    if (typeof value === "string") return this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.#redactDeep(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.redact(key), this.#redactDeep(item)]));
  }

  readonly redactLog: Redact = (text) => {
    let clean = this.redact(text);
    for (const pattern of patterns) clean = clean.replace(pattern, mark);
    return clean;
  };

  /** Returns where a secret may have begun that the text so far does not complete. */
  findOpenEnd(text: string): number {
    const token = /(?:t|th|thk|thk_[A-Za-z0-9_.-]*)$/.exec(text.slice(-maxIssuedTokenChars));
    const tokenStart = token ? text.length - token[0].length : text.length;
    for (let start = Math.max(0, text.length - this.#maxChars); start < tokenStart; start++) {
      const candidates = this.#byFirstChar.get(text.charAt(start));
      if (candidates?.some((secret) => secret.startsWith(text.slice(start)))) return start;
    }
    return tokenStart;
  }
}

/** Redacts a text that arrives in pieces. A piece that may be the beginning of a secret is held back. */
export class StreamRedactor {
  readonly #redactor: Redactor;
  #held = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  push(text: string): string {
    if (!text) return "";
    const all = this.#redactor.redactComplete(this.#held + text);
    const end = this.#redactor.findOpenEnd(all);
    this.#held = all.slice(end);
    return this.#redactor.redact(all.slice(0, end));
  }

  /** Returns what was held back, at the end of the text. */
  flush(): string {
    const rest = this.#held;
    this.#held = "";
    return this.#redactor.redact(rest);
  }
}

function replaceSecrets(text: string, head: string, writings: readonly Writing[], withCutOnes: boolean): string {
  let clean = "";
  let from = 0;
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, from)) {
    const chars = Math.max(...writings.map((writing) => countMatching(text, at, writing, withCutOnes)));
    const end = chars === 0 ? at + 1 : at + chars;
    clean += chars === 0 ? text.slice(from, end) : text.slice(from, at) + mark;
    from = end;
  }
  return clean + text.slice(from);
}

/** Returns how many characters of a secret are at this place of a text, or 0 if they are too few. */
function countMatching(text: string, at: number, { text: secret, minChars }: Writing, withCutOnes: boolean): number {
  if (text.startsWith(secret, at)) return secret.length;
  if (!withCutOnes) return 0;
  let count = 0;
  while (count < secret.length && text[at + count] === secret[count]) count++;
  return count >= minChars ? count : 0;
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** A secret as it may appear in URLs, headers, dumps and JSON. */
function listEncodings(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const base64 = btoa(String.fromCharCode(...bytes));
  const base64Url = base64.replaceAll("+", "-").replaceAll("/", "_");
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const percent = encodeURIComponent(secret);
  const plain = [
    secret,
    base64,
    base64Url,
    hex,
    hex.toUpperCase(),
    percent,
    new URLSearchParams([["", secret]]).toString().slice(1),
  ];
  const unpadded = [base64, base64Url].map((text) => text.replace(/=+$/, ""));
  const inside = [0, 1, 2].map((offset) => encodeInside(bytes, offset));
  const insideUrl = inside.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const all = [...plain, ...unpadded, ...inside, ...insideUrl];
  // Inside of JSON, and inside of JSON in JSON.
  const json = all.map((text) => JSON.stringify(text).slice(1, -1));
  return [...all, ...json, ...json.map((text) => JSON.stringify(text).slice(1, -1))];
}

/**
 * Returns what is always the same in the base64 of texts that contain these bytes, for example in credentials of HTTP.
 * `offset` is where they begin within a group of three; the characters at both ends also depend on what is around them.
 */
function encodeInside(bytes: Uint8Array, offset: number): string {
  const base64 = btoa("\0".repeat(offset) + String.fromCharCode(...bytes));
  return base64.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}
