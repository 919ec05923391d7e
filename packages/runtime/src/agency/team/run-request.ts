import type { Workflow } from "@thinkery/sdk";

/** What starts a run. */
export interface RunRequest {
  workflow: Workflow;
  tag?: string;
  /** In place of the workflow's own kickoff. */
  message?: string;
  resident: boolean;
  startedBy: string;
  /** The same key again is the same run. */
  key?: string;
}
