/** What looks like a secret, wherever it comes from. Exact secrets of this host are added at start. */
const patterns = [
  /\bthk_[A-Za-z0-9_.-]{16,}/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

const known = new Set<string>();

/** From now on this text never leaves through a log. Very short ones would black out ordinary words. */
export function keepSecret(secret: string | undefined): void {
  if (secret && secret.length >= 8) known.add(secret);
}

export function redact(text: string): string {
  let clean = text;
  for (const secret of known) clean = clean.replaceAll(secret, "[redacted]");
  for (const pattern of patterns) clean = clean.replace(pattern, "[redacted]");
  return clean;
}
