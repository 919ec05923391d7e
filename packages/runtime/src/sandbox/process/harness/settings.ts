import type { ColumnMaps } from "./trace.ts";

/** What the harness needs to know of the code in its isolate. */
export interface HarnessSettings {
  columnMaps: ColumnMaps;
  /** The modules that can be imported. */
  names: string[];
}

export interface RunSettings extends HarnessSettings {
  exportsDefault: boolean;
  /** JSON. */
  input?: string;
}

export interface AppSettings extends HarnessSettings {
  main: string;
}
