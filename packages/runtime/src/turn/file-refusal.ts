import { matches } from "../tools/files/file-tool.ts";
import { type Config, decide } from "./policy.ts";

/** Why the policy keeps a file from what reaches it in passing: an import, a search of everything. By the rules of the tool that would name it. */
export function fileRefusal(config: Config | undefined, tool: "readFile" | "grep", path: string): string | undefined {
  const { action, reason } = decide(config, { name: tool, matches }, { path });
  return action === "allow" ? undefined : reason;
}
