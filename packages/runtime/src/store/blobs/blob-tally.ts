import type { BlobReport } from "@thinkery/sdk";

type BlobState = "needed" | "freed" | "recent" | "unknown";

/** Counts what a collection finds. */
export class BlobTally {
  readonly report: BlobReport = {
    needed: { blobs: 0, bytes: 0 },
    freed: { blobs: 0, bytes: 0 },
    recent: { blobs: 0, bytes: 0 },
    unknown: { blobs: 0, bytes: 0 },
    partials: 0,
    missing: 0,
  };

  add(state: BlobState, bytes: number, blobs = 1): void {
    this.report[state].blobs += blobs;
    this.report[state].bytes += bytes;
  }

  addReport({ partials, missing, ...totals }: BlobReport): void {
    this.report.partials += partials;
    this.report.missing += missing;
    for (const state of ["needed", "freed", "recent", "unknown"] as const)
      this.add(state, totals[state].bytes, totals[state].blobs);
  }
}
