/**
 * A hint within this isolate, so that agents see a change at once. An agent in another isolate may use what it read for
 * up to 30 s (`ttlMs` in agency-reader.ts), and so may all agents after the hints were cleared.
 */
const revisions = new Map<string, number>();
const maxRevisions = 10_000;
let last = 0;

/** Changes whenever an agency's blueprints or budget do, so that its agents read them again. */
export function getRevision(agency: string): number {
  return revisions.get(agency) ?? 0;
}

export function bumpRevision(agency: string): void {
  if (revisions.size >= maxRevisions) revisions.clear();
  revisions.set(agency, ++last);
}
