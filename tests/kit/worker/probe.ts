/** What a test asks an agent of `routing.worker.ts` to do. */
export interface Probe {
  /** Names of the facets on the way to the one that does it. */
  path?: string[];
  method: string;
  args?: unknown[];
}
