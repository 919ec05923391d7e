import type { PolicyRule } from "../../packages/runtime/src/policy/evaluate-policy.ts";
import type { ShellLimits, ShellState } from "../../packages/runtime/src/sandbox/shell.ts";

/** What a test says of a workspace. A file whose size alone is sent has `far`. */
export interface ShellRequest {
  agent?: string;
  id?: string;
  version?: number;
  files?: Record<string, string | { base64: string } | { far: string; binary?: boolean }>;
  /** What has changed since a version. */
  since?: Record<number, { files: Record<string, string>; gone: string[] }>;
  command?: string;
  state?: ShellState;
  rules?: PolicyRule[];
  limits?: Partial<ShellLimits>;
  timeoutMs?: number;
  network?: boolean;
  search?: { pattern: string; under?: string; glob?: string; ignoreCase?: boolean; context?: number; limit: number };
  /** Code whose `tools.bash` and `tools.grep` use the sandbox that it is in. */
  code?: string;
}
