import type { Drifts } from "./trace.ts";

/** What the harness is told of the code beside it. */
export interface Setting {
  drifts: Drifts;
  /** The modules that were given. */
  names: string[];
}

export interface RunSetting extends Setting {
  exportsDefault: boolean;
  /** JSON */
  input?: string;
}

export interface AppSetting extends Setting {
  main: string;
}
