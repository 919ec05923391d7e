import { readFileSync } from "node:fs";
import type { CommandResult } from "@thinkery/sdk";
import type { CommandOutput } from "./command-output.ts";
import type { Exit, StartedCommand } from "./provider.ts";

type EndedBy = NonNullable<CommandResult["endedBy"]>;

/** Why we end a command. */
export type KillReason = Extract<EndedBy, "timeout" | "stop" | "disk">;

export interface CommandEnd {
  exitCode: number | null;
  endedBy?: EndedBy;
}

/** A command under way, or over. */
export class Command {
  readonly startedAt = new Date();
  readonly output: CommandOutput;
  /** Not where the disk is full. */
  readonly canWrite: boolean;
  /** Rejects where it could not even be begun. */
  readonly ended: Promise<CommandEnd>;
  readonly #started: StartedCommand;
  readonly #oomKillsAtStart = countOomKills();
  #reason: KillReason | undefined;

  constructor(started: StartedCommand, output: CommandOutput, mayWrite: boolean) {
    this.#started = started;
    this.output = output;
    this.canWrite = mayWrite;
    this.ended = started.exited.then((exit) => this.#toEnd(exit));
    // Somebody may look later, or nobody.
    this.ended.catch(() => {});
  }

  kill(reason: KillReason): void {
    this.#reason ??= reason;
    this.#started.kill();
  }

  #toEnd({ code }: Exit): CommandEnd {
    // One that was quicker to exit than we to end it ended by itself.
    if (this.#reason && (code === null || code === 128 + 9)) return { exitCode: null, endedBy: this.#reason };
    if (code === null) return { exitCode: null, endedBy: "signal" };
    if (code === 128 + 9 && countOomKills() > this.#oomKillsAtStart) return { exitCode: code, endedBy: "memory" };
    return { exitCode: code, ...(code > 128 && code <= 128 + 64 ? { endedBy: "signal" } : {}) };
  }
}

/** How many processes the kernel has ended on this machine because memory was short. */
function countOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
