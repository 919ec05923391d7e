import { type AgentLogLine, isThinkeryError } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import { followLog, readLog } from "./log-reader.ts";

interface LogFollowersOptions {
  /** Returns the current client: a restarted host may have another address. */
  client(): Client;
  agency: string;
  signal: AbortSignal;
  onLine(line: AgentLogLine): void;
  onError(error: Error): void;
}

/** Follows the log of each agent that is deployed, from its first deploy on. */
export class LogFollowers {
  readonly #options: LogFollowersOptions;
  readonly #lastLines = new Map<string, number>();
  readonly #followers = new Map<string, AbortController>();

  constructor(options: LogFollowersOptions) {
    this.#options = options;
  }

  /** Finds the last line before the first deploy. */
  async prepare(agent: string): Promise<void> {
    if (this.#lastLines.has(agent)) return;
    const page = await readLog(this.#options.client(), this.#target(agent), { limit: 1 }).catch(ignoreMissing);
    this.#lastLines.set(agent, page.last);
  }

  follow({ name, isNew }: { name: string; isNew: boolean }): void {
    const former = this.#followers.get(name);
    if (former && !isNew) return;
    // The log of a new agent begins again.
    former?.abort();
    const stop = new AbortController();
    this.#followers.set(name, stop);
    const { client, signal, onLine, onError } = this.#options;
    const options = {
      client,
      target: this.#target(name),
      after: isNew ? 0 : (this.#lastLines.get(name) ?? 0),
      signal: AbortSignal.any([signal, stop.signal]),
      onLine,
    };
    followLog(options).catch(onError);
  }

  #target(agent: string) {
    return { kind: "agent" as const, agent, agency: this.#options.agency };
  }
}

function ignoreMissing(error: unknown): { last: number } {
  // There is no agent of this name yet, or it runs no code.
  if (isThinkeryError(error) && ["not_found", "conflict", "bad_request"].includes(error.code)) return { last: 0 };
  throw error;
}
