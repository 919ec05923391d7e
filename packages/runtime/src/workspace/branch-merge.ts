import type { Merge, MergeResponse } from "@thinkery/sdk";
import type { CommitOptions } from "./commits.ts";
import type { ContentWithInfo } from "./content.ts";

/** The latest versions of two branches. */
export interface MergeVersions {
  source: number;
  target: number;
}

export interface BranchMergeOptions extends Pick<CommitOptions, "record" | "key"> {
  dryRun?: Merge["dryRun"];
  /** Merges only if these are the latest versions. */
  expected?: MergeVersions | undefined;
}

/** `isStale`: the branches have changed, and nothing was merged. */
export type BranchMerge = MergeResponse & { isStale?: boolean };

/** What a merge would do. */
export interface MergePreview extends MergeResponse {
  into: string;
  versions: MergeVersions;
  /** The files of the target that would change, with their new content if they would not be deleted. */
  files: { path: string; after?: ContentWithInfo }[];
}
