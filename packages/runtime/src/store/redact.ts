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

/** Shorter secrets are not redacted, because they could match ordinary words. */
const minSecretChars = 8;

/** Redacts secrets in a text that people may read, such as a log line, an action or a URL. */
export type Redact = (text: string) => string;

/** Returns a function that redacts these secrets and everything that looks like one. */
export function createRedactor(secrets: Iterable<string>): Redact {
  const exact = [...new Set(secrets)].filter((secret) => secret.length >= minSecretChars);
  return (text) => {
    let clean = text;
    for (const secret of exact) clean = clean.replaceAll(secret, "[redacted]");
    for (const pattern of patterns) clean = clean.replace(pattern, "[redacted]");
    return clean;
  };
}
