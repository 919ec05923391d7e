import type { Data } from "../agent/definition.ts";
import type { AgentState } from "../agent/wire.ts";
import type { SettingValue } from "../protocol/setting-values.ts";
import type { ModelResponder } from "./test-models.ts";

export type TestTools = Record<
  string,
  { description?: string; parameters?: object; execute(args: Data): unknown | Promise<unknown> }
>;

export interface TestAgentOptions {
  /** What models respond: a list of responses, or a function of the request. Without it, calling a model throws. */
  models?: ModelResponder;
  /** The tools of `ctx.tools`. */
  tools?: TestTools;
  settings?: Record<string, SettingValue>;
  state?: AgentState;
  /** Files by path. */
  files?: Record<string, string | Uint8Array>;
  bash?(command: string): { exitCode?: number; stdout?: string; stderr?: string } | Promise<object>;
  fetch?(request: Request): Response | Promise<Response>;
  /** What the manifest asks for; by default everything. */
  capabilities?: readonly string[];
}
