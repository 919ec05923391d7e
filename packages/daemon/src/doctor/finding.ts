import type { Environment } from "../config/environment.ts";
import type { Home } from "../home/home.ts";

export interface Finding {
  /** What was looked at. */
  name: string;
  state: "ok" | "warn" | "fail";
  message: string;
  /** How to make it right. */
  fix?: string;
}

/** What the checks may look at. */
export interface CheckContext {
  env: Environment;
  cwd: string;
  home: Home;
  version: string | undefined;
}

export type Check = (patient: CheckContext) => Promise<Finding> | Finding;
