import type { Environment } from "../config/environment.ts";
import type { Home } from "../home/home.ts";

export interface Finding {
  /** What was checked. */
  name: string;
  state: "ok" | "warn" | "fail";
  message: string;
  /** How to fix it. */
  fix?: string;
}

export interface CheckContext {
  env: Environment;
  cwd: string;
  home: Home;
  version: string | undefined;
}

export type Check = (context: CheckContext) => Promise<Finding> | Finding;
