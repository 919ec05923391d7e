import type { AgentCodeInfo, AgentLogLine, AgentLogQuery, AgentSettings, SettingValue } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { CodeFeature } from "./code-feature.ts";

/** The code of an agent: its settings, its log, and the tools it provides. */
export class CodeApi extends RpcTarget {
  readonly #open: () => Promise<CodeFeature>;

  constructor(open: () => Promise<CodeFeature>) {
    super();
    this.#open = open;
  }

  async describe(): Promise<AgentCodeInfo> {
    return (await this.#open()).describe();
  }

  async readSettings(): Promise<AgentSettings> {
    return (await this.#open()).readSettings();
  }

  async putSettings(changes: Record<string, SettingValue | null>): Promise<AgentSettings> {
    return (await this.#open()).putSettings(changes);
  }

  async readLog(query: AgentLogQuery): Promise<{ logs: AgentLogLine[]; last: number }> {
    return (await this.#open()).readLog(query);
  }

  /** Called by the agency when another version of the agent's package became the current one. */
  async update(): Promise<void> {
    await (await this.#open()).update();
  }

  /** Called by another agent of the agency. Returns JSON, or undefined if the tool returned nothing. */
  async callTool(tool: string, json: string, callers: string[]): Promise<string | undefined> {
    const output = await (await this.#open()).callTool(tool, JSON.parse(json), callers);
    return output === undefined ? undefined : JSON.stringify(output);
  }
}
