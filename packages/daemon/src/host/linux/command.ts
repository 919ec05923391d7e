import { readFileSync } from "node:fs";
import type { CommandResult } from "@thinkery/sdk";
import type { CommandOutput } from "./command-output.ts";
import type { CommandUsage, Exit, StartedCommand } from "./provider.ts";

type EndedBy = NonNullable<CommandResult["endedBy"]>;

/** Why we end a command. */
export type KillReason = Exclude<EndedBy, "memory" | "signal">;

export interface CommandEnd {
  exitCode: number | null;
  endedBy?: EndedBy;
}

/** A running or ended command. */
export class Command {
  readonly startedAt = new Date();
  readonly output: CommandOutput;
  /** False if the disk was full when the command started. */
  readonly canWrite: boolean;
  /** Rejects if the command could not be started. */
  readonly ended: Promise<CommandEnd>;
  readonly #started: StartedCommand;
  readonly #oomKillsAtStart = countOomKills();
  #reason: KillReason | undefined;

  constructor(started: StartedCommand, output: CommandOutput, canWrite: boolean) {
    this.#started = started;
    this.output = output;
    this.canWrite = canWrite;
    this.ended = started.exited.then((exit) => this.#toEnd(exit));
    // Callers may await it later, or never.
    this.ended.catch(() => {});
  }

  kill(reason: KillReason): void {
    this.#reason ??= reason;
    this.#started.kill();
  }

  /** Ends the command if it and everything it started use more than this together. */
  enforceLimits({ processes, memoryBytes }: CommandUsage): void {
    const usage = this.#started.measureUsage();
    if (!usage) return;
    if (usage.memoryBytes > memoryBytes) this.kill("memory_limit");
    else if (usage.processes > processes) this.kill("process_limit");
  }

  #toEnd({ code }: Exit): CommandEnd {
    // A command that exited before our signal arrived ended by itself.
    if (this.#reason && (code === null || code === 128 + 9)) return { exitCode: null, endedBy: this.#reason };
    if (code === null) return { exitCode: null, endedBy: "signal" };
    if (code === 128 + 9 && countOomKills() > this.#oomKillsAtStart) return { exitCode: code, endedBy: "memory" };
    return { exitCode: code, ...(code > 128 && code <= 128 + 64 ? { endedBy: "signal" } : {}) };
  }
}

/** Counts the processes that the kernel has killed on this machine because memory ran out. */
function countOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
