import { readFileSync } from "node:fs";
import type { CommandResult } from "@thinkery/sdk";
import type { Output } from "./output.ts";
import type { Exit, Started } from "./provider.ts";

type EndedBy = NonNullable<CommandResult["endedBy"]>;

/** Why we end a command. */
export type Reason = Extract<EndedBy, "timeout" | "stop" | "disk">;

export interface CommandEnd {
  exitCode: number | null;
  endedBy?: EndedBy;
}

/** A command under way, or over. */
export class Command {
  readonly startedAt = new Date();
  readonly output: Output;
  /** Not where the disk is full. */
  readonly mayWrite: boolean;
  /** Rejects where it could not even be begun. */
  readonly ended: Promise<CommandEnd>;
  readonly #started: Started;
  readonly #oomKills = oomKills();
  #reason: Reason | undefined;

  constructor(started: Started, output: Output, mayWrite: boolean) {
    this.#started = started;
    this.output = output;
    this.mayWrite = mayWrite;
    this.ended = started.exited.then((exit) => this.#end(exit));
    // Somebody may look later, or nobody.
    this.ended.catch(() => {});
  }

  kill(reason: Reason): void {
    this.#reason ??= reason;
    this.#started.kill();
  }

  #end({ code }: Exit): CommandEnd {
    // One that was quicker to exit than we to end it ended by itself.
    if (this.#reason && (code === null || code === 128 + 9)) return { exitCode: null, endedBy: this.#reason };
    if (code === null) return { exitCode: null, endedBy: "signal" };
    if (code === 128 + 9 && oomKills() > this.#oomKills) return { exitCode: code, endedBy: "memory" };
    return { exitCode: code, ...(code > 128 && code <= 128 + 64 ? { endedBy: "signal" } : {}) };
  }
}

/** How many processes the kernel has ended on this machine because memory was short. */
function oomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
