import { randomBytes } from "node:crypto";
import { fail, type ProcessInfo } from "@thinkery/sdk";
import type { Command, CommandEnd } from "./command.ts";

interface Process {
  id: string;
  agent: string;
  /** The requested command line. */
  text: string;
  command: Command;
  ended?: { end: CommandEnd; at: Date };
}

/** Maximum ended processes kept per agent and in total. */
const maxEndedPerAgent = 20;
const maxEnded = 500;
/** Maximum output kept of each of them. */
const maxEndedOutputBytes = 64 * 1024;

/** The background commands and the latest ended ones. None outlives the daemon. */
export class Processes {
  readonly #all = new Map<string, Process>();

  add(agent: string, text: string, command: Command): ProcessInfo {
    // A random id, so that an id from before a restart cannot name another process.
    const process: Process = { id: randomBytes(4).toString("hex"), agent, text, command };
    this.#all.set(process.id, process);
    const handleEnd = (end: CommandEnd) => {
      process.ended = { end, at: new Date() };
      command.output.shrink(maxEndedOutputBytes);
      this.#prune(agent);
    };
    command.ended.then(handleEnd, () => handleEnd({ exitCode: null }));
    return toProcessInfo(process);
  }

  list(agent: string): ProcessInfo[] {
    return this.#listFor(agent).map(toProcessInfo);
  }

  get(agent: string, id: string): { command: Command; info(): ProcessInfo } {
    const process = this.#all.get(id);
    if (!process || process.agent !== agent) {
      throw fail(
        "not_found",
        `This agent has no process “${id.slice(0, 40)}”. Processes end with the host, and only the last ${maxEndedPerAgent} ended ones are kept.`,
      );
    }
    return { command: process.command, info: () => toProcessInfo(process) };
  }

  delete(agent: string): void {
    for (const { id } of this.#listFor(agent)) this.#all.delete(id);
  }

  #listFor(agent: string): Process[] {
    return [...this.#all.values()].filter((process) => process.agent === agent);
  }

  #prune(agent: string): void {
    const filterEnded = (processes: Process[]) => processes.filter((process) => process.ended);
    for (const { id } of filterEnded(this.#listFor(agent)).slice(0, -maxEndedPerAgent)) this.#all.delete(id);
    for (const { id } of filterEnded([...this.#all.values()]).slice(0, -maxEnded)) this.#all.delete(id);
  }
}

function toProcessInfo({ id, text, command, ended }: Process): ProcessInfo {
  return {
    id,
    command: text,
    state: ended ? "exited" : "running",
    ...ended?.end,
    startedAt: command.startedAt.toISOString(),
    ...(ended ? { endedAt: ended.at.toISOString() } : {}),
    outputBytes: command.output.byteLength,
  };
}
