import type { PolicyRule } from "../../packages/runtime/src/policy/evaluate-policy.ts";
import type { ShellLimits, ShellState } from "../../packages/runtime/src/sandbox/shell.ts";

/** A workspace, and what to run in it. Of a file with `far` only the size is sent at first. */
export interface ShellRequest {
  agent?: string;
  id?: string;
  version?: number;
  files?: Record<string, string | { base64: string } | { far: string; binary?: boolean }>;
  /** Changes since a version. */
  since?: Record<number, { files: Record<string, string>; gone: string[] }>;
  command?: string;
  state?: ShellState;
  rules?: PolicyRule[];
  limits?: Partial<ShellLimits>;
  timeoutMs?: number;
  network?: boolean;
  search?: { pattern: string; under?: string; glob?: string; ignoreCase?: boolean; context?: number; limit: number };
  /** Code whose `tools.bash` and `tools.grep` use the sandbox it runs in. */
  code?: string;
}
