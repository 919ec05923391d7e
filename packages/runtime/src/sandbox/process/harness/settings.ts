import type { ColumnMaps } from "./trace.ts";

/** What the harness is told of the code beside it. */
export interface HarnessSettings {
  drifts: ColumnMaps;
  /** The modules that were given. */
  names: string[];
}

export interface RunSettings extends HarnessSettings {
  exportsDefault: boolean;
  /** JSON */
  input?: string;
}

export interface AppSettings extends HarnessSettings {
  main: string;
}
