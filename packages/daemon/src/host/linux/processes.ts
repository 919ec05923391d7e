import { randomBytes } from "node:crypto";
import { fail, type ProcessInfo } from "@thinkery/sdk";
import type { Command, CommandEnd } from "./command.ts";

interface Process {
  id: string;
  agent: string;
  /** What was asked for. */
  text: string;
  command: Command;
  ended?: { end: CommandEnd; at: Date };
}

/** Of those that are over, so many are remembered: of one agent, and of all. */
const maxPerAgent = 20;
const maxEnded = 500;
/** And so much of what they wrote. */
const maxOutputChars = 64 * 1024;

/** The commands that go on by themselves, and the latest of those that are over. They live no longer than the daemon. */
export class Processes {
  readonly #all = new Map<string, Process>();

  add(agent: string, text: string, command: Command): ProcessInfo {
    // Not a number: one from before a restart must not be taken for another.
    const process: Process = { id: randomBytes(4).toString("hex"), agent, text, command };
    this.#all.set(process.id, process);
    const over = (end: CommandEnd) => {
      process.ended = { end, at: new Date() };
      command.output.shrink(maxOutputChars);
      this.#prune(agent);
    };
    command.ended.then(over, () => over({ exitCode: null }));
    return toProcessInfo(process);
  }

  list(agent: string): ProcessInfo[] {
    return this.#listFor(agent).map(toProcessInfo);
  }

  get(agent: string, id: string): { command: Command; info(): ProcessInfo } {
    const process = this.#all.get(id);
    if (!process || process.agent !== agent) {
      const shown = id.slice(0, 40);
      throw fail(
        "not_found",
        `This agent has no process “${shown}”. Processes end with the host, and of those that ended the latest ${maxPerAgent} are known.`,
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
    const over = (processes: Process[]) => processes.filter((process) => process.ended);
    for (const { id } of over(this.#listFor(agent)).slice(0, -maxPerAgent)) this.#all.delete(id);
    for (const { id } of over([...this.#all.values()]).slice(0, -maxEnded)) this.#all.delete(id);
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
