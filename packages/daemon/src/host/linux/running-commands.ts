import { fail } from "@thinkery/sdk";
import type { Command } from "./command.ts";

interface CommandLimits {
  maxPerAgent: number;
  maxTotal: number;
}

/**
 * The running commands by agent. A command counts as soon as it is requested, because many may be requested at once.
 */
export class RunningCommands {
  readonly #limits: CommandLimits;
  readonly #commands = new Map<string, Set<Promise<Command>>>();
  readonly #started = new Set<Command>();

  constructor(limits: CommandLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return [...this.#commands.values()].reduce((sum, { size }) => sum + size, 0);
  }

  start(agent: string, startCommand: () => Promise<Command>): Promise<Command> {
    const own = this.#commands.get(agent) ?? new Set();
    const { maxPerAgent, maxTotal } = this.#limits;
    if (own.size >= maxPerAgent) {
      throw fail(
        "conflict",
        `This agent already runs ${maxPerAgent} commands, the maximum. Wait until one ends, or stop a process.`,
      );
    }
    if (this.size >= maxTotal)
      throw fail("conflict", `This host already runs ${maxTotal} commands, the maximum. Try again later.`);
    const command = startCommand().then((started) => {
      this.#started.add(started);
      const removeStarted = () => {
        this.#started.delete(started);
        removeCommand();
      };
      // Before anyone else can wait for the end: whoever has the result may start the next command.
      started.ended.then(removeStarted, removeStarted);
      return started;
    });
    this.#commands.set(agent, own.add(command));
    const removeCommand = () => {
      own.delete(command);
      if (own.size === 0 && this.#commands.get(agent) === own) this.#commands.delete(agent);
    };
    command.catch(removeCommand);
    return command;
  }

  /** Stops the commands of an agent, or all; resolves when they have ended. */
  async stop(agent?: string): Promise<void> {
    const commands = agent === undefined ? this.#listAll() : [...(this.#commands.get(agent) ?? [])];
    const stopped = commands.map(async (command) => {
      const started = await command;
      started.kill("stop");
      await started.ended;
    });
    await Promise.allSettled(stopped);
  }

  /** Lists the commands that have been started. */
  listStarted(): Command[] {
    return [...this.#started];
  }

  #listAll(): Promise<Command>[] {
    return [...this.#commands.values()].flatMap((commands) => [...commands]);
  }
}
