const revisions = new Map<string, number>();

/** Grows when something changes that an agency's agents go by (a blueprint, a budget), so that they know to read it again. */
export function revisionOf(agency: string): number {
  return revisions.get(agency) ?? 0;
}

/** Only this isolate hears of it; others (Cloudflare) look again after a while. */
export function revise(agency: string): void {
  revisions.set(agency, revisionOf(agency) + 1);
}
