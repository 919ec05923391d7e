import type { AgentCapability, SettingsSchema } from "@thinkery/sdk";
import type { CodeDescription } from "../../sandbox/agent-description.ts";

/** A version of a package, without its code. */
export interface CodeVersion {
  package: string;
  version: number;
  hash: string;
  displayName: string;
  capabilities: AgentCapability[];
  settings: SettingsSchema;
  description: CodeDescription;
}

/** Returns the tools that the code provides, without their schemas. */
export function summarizeTools({ tools }: CodeDescription): { name: string; description: string }[] {
  return tools.map(({ name, description }) => ({ name, description }));
}
