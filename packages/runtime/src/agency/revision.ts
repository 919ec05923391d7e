/**
 * A hint within this isolate, so that agents see a change at once. An agent in another isolate goes by what it read for
 * at most 30 s (`ttlMs` in agent-resolver.ts); the same holds when the oldest hints are dropped.
 */
const revisions = new Map<string, number>();
const maxRevisions = 10_000;
let last = 0;

/** Changes when something does that an agency's agents go by (a blueprint, a budget), so that they know to read it again. */
export function getRevision(agency: string): number {
  return revisions.get(agency) ?? 0;
}

export function bumpRevision(agency: string): void {
  if (revisions.size >= maxRevisions) revisions.clear();
  revisions.set(agency, ++last);
}
