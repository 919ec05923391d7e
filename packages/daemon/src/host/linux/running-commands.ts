import { fail } from "@thinkery/sdk";
import type { Command } from "./command.ts";

interface CommandLimits {
  /** Of one agent. */
  each: number;
  all: number;
}

/** The commands that run, by their agents. They count from the moment they are asked for: many may come at once. */
export class RunningCommands {
  readonly #limits: CommandLimits;
  readonly #commands = new Map<string, Set<Promise<Command>>>();

  constructor(most: CommandLimits) {
    this.#limits = most;
  }

  get size(): number {
    return [...this.#commands.values()].reduce((sum, { size }) => sum + size, 0);
  }

  start(agent: string, make: () => Promise<Command>): Promise<Command> {
    const own = this.#commands.get(agent) ?? new Set();
    const { each, all } = this.#limits;
    if (own.size >= each) {
      throw fail(
        "conflict",
        `${each} commands of this agent are running, and no more may. Wait until one ends, or stop a process.`,
      );
    }
    if (this.size >= all)
      throw fail("conflict", `${all} commands are running on this host, and no more may. Try again later.`);
    const command = make();
    this.#commands.set(agent, own.add(command));
    const removeCommand = () => {
      own.delete(command);
      if (own.size === 0 && this.#commands.get(agent) === own) this.#commands.delete(agent);
    };
    command.then(({ ended }) => ended).then(removeCommand, removeCommand);
    return command;
  }

  /** Ends those of an agent, or all there are, and comes back when they are over. */
  async stop(agent?: string): Promise<void> {
    const commands = agent === undefined ? this.#listAll() : [...(this.#commands.get(agent) ?? [])];
    const over = commands.map(async (command) => {
      const begun = await command;
      begun.kill("stop");
      await begun.ended;
    });
    await Promise.allSettled(over);
  }

  /** Ends those that add to a disk which has no more room. */
  stopWriters(): void {
    for (const command of this.#listAll()) {
      command.then(
        (begun) => begun.canWrite && begun.kill("disk"),
        () => {},
      );
    }
  }

  #listAll(): Promise<Command>[] {
    return [...this.#commands.values()].flatMap((commands) => [...commands]);
  }
}
