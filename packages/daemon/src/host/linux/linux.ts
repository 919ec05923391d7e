import { cpus } from "node:os";
import { type CommandResult, fail, type ProcessInfo, type ProcessOutput } from "@thinkery/sdk";
import type { LinuxLimits } from "@thinkery/sdk/internal";
import { CommandOutput } from "./command-output.ts";
import { Command } from "./command.ts";
import type { WorkingCopies } from "./copy/working-copies.ts";
import { Processes } from "./processes.ts";
import type { LinuxProvider } from "./provider.ts";
import { RunningCommands } from "./running-commands.ts";

interface LinuxSandboxOptions {
  provider: LinuxProvider;
  limits: LinuxLimits;
  /** Has the disk no more room? Never rejects. */
  isDiskFull(): Promise<boolean>;
}

interface CommandRequest {
  agent: string;
  command: string;
  timeoutMs?: number | undefined;
}

/** Whoever waits for a command. */
interface CommandListener {
  onOutput(text: string): void;
  /** Can they take more? What they cannot is not kept for them. */
  hasRoom(): boolean;
  /** They are gone, and the command goes too. */
  signal: AbortSignal;
}

/** What is kept of a command that is waited for, and of a process. */
const commandOutputLimits = { head: 256 * 1024, tail: 768 * 1024 };
const processOutputLimits = { head: 0, tail: 256 * 1024 };
/** So much is shown at a time, so often. */
const maxOutputChars = 32 * 1024;
const showMs = 100;
/** A command that says nothing is said to be alive. */
const heartbeatMs = 20_000;
const diskCheckMs = 300;
/** Time of the processor for a process that nobody waits for, in seconds. */
const maxCpuSeconds = 3600;
const maxFileBytes = 1024 * 1024 * 1024;
/** Of all agents together. */
const maxCommands = 64;

/** The Linux sandbox of a host: what its agents run in it, and what became of that. */
export class LinuxSandbox {
  readonly #options: LinuxSandboxOptions;
  readonly #running: RunningCommands;
  readonly #processes = new Processes();
  readonly #deleting = new Set<string>();
  #copies: Promise<WorkingCopies> | undefined;
  #diskWatch: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(options: LinuxSandboxOptions) {
    this.#options = options;
    this.#running = new RunningCommands({ each: options.limits.maxProcesses, all: maxCommands });
  }

  /** Runs a command and waits for it. */
  async run(
    { agent, command, timeoutMs }: CommandRequest,
    { onOutput, hasRoom, signal }: CommandListener,
  ): Promise<CommandResult> {
    const { timeoutSeconds: seconds, maxTimeoutSeconds } = this.#options.limits;
    const limitMs = Math.min(timeoutMs ?? seconds * 1000, maxTimeoutSeconds * 1000);
    // As a backstop only: all processors, all the time.
    const cpuSeconds = Math.ceil(limitMs / 1000) * cpus().length + 10;
    const begun = await this.#startCommand(agent, command, new CommandOutput(commandOutputLimits), cpuSeconds);
    const stopShowing = streamOutput(begun.output, onOutput, hasRoom);
    const late = setTimeout(() => begun.kill("timeout"), limitMs);
    const leave = () => begun.kill("stop");
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    try {
      const end = await begun.ended;
      return { ...end, output: begun.output.toText(), ms: Date.now() - begun.startedAt.getTime() };
    } finally {
      stopShowing();
      clearTimeout(late);
      signal.removeEventListener("abort", leave);
    }
  }

  /** Starts one that goes on. */
  async start({ agent, command }: CommandRequest): Promise<ProcessInfo> {
    return this.#processes.add(
      agent,
      command,
      await this.#startCommand(agent, command, new CommandOutput(processOutputLimits), maxCpuSeconds),
    );
  }

  list(agent: string): ProcessInfo[] {
    return this.#processes.list(agent);
  }

  /** What it wrote after so many bytes. */
  read(agent: string, id: string, after = 0): ProcessOutput {
    const { command, info } = this.#processes.get(agent, id);
    return { ...info(), output: command.output.readAfter(after) };
  }

  async stop(agent: string, id: string): Promise<ProcessInfo> {
    const { command, info } = this.#processes.get(agent, id);
    command.kill("stop");
    await command.ended.catch(() => {});
    return info();
  }

  /** The workspaces as they lie in the folders of the commands. Loaded with the first one. */
  readonly loadCopies = (): Promise<WorkingCopies> => {
    const { provider, isDiskFull } = this.#options;
    this.#copies ??= import("./copy/working-copies.ts").then(
      ({ WorkingCopies }) => new WorkingCopies({ provider, isDiskFull }),
    );
    return this.#copies;
  };

  /** The agent is deleted: what it runs ends, and its folder goes. Safe to ask again. */
  async forget(agent: string): Promise<void> {
    this.#deleting.add(agent);
    try {
      await this.#running.stop(agent);
      this.#processes.delete(agent);
      (await this.#copies)?.forget(agent);
      await this.#options.provider.forget(agent);
    } finally {
      this.#deleting.delete(agent);
    }
  }

  /** Ends everything, for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running.stop();
  }

  async #startCommand(agent: string, command: string, output: CommandOutput, cpuSeconds: number): Promise<Command> {
    if (this.#isClosed) throw fail("unavailable", "The host is stopping.");
    if (this.#deleting.has(agent)) throw fail("conflict", "The agent is being deleted.");
    const begun = this.#running.start(agent, () => this.#spawnCommand(agent, command, output, cpuSeconds));
    this.#watchDisk();
    return begun;
  }

  async #spawnCommand(agent: string, command: string, output: CommandOutput, cpuSeconds: number): Promise<Command> {
    const { provider, limits, isDiskFull } = this.#options;
    // To make room again must be possible.
    const full = await isDiskFull();
    if (full) output.write(Buffer.from("[The disk is almost full: files can be removed, but not written.]\n"));
    const onOutput = (chunk: Buffer) => output.write(chunk);
    const started = await provider.start({
      agent,
      command,
      limits,
      cpuSeconds,
      fileBytes: full ? 0 : maxFileBytes,
      onOutput,
    });
    return new Command(started, output, !full);
  }

  /** A file has its limit, but there may be many of them. */
  #watchDisk(): void {
    this.#diskWatch ??= setInterval(async () => {
      if (this.#running.size === 0) {
        clearInterval(this.#diskWatch);
        this.#diskWatch = undefined;
      } else if (await this.#options.isDiskFull()) this.#running.stopWriters();
    }, diskCheckMs);
  }
}

/** Shows what is written, a piece now and then, until the answered function is called. */
function streamOutput(output: CommandOutput, onOutput: (text: string) => void, hasRoom: () => boolean): () => void {
  let position = 0;
  let at = performance.now();
  const show = () => {
    const { byteLength } = output;
    const isNews = byteLength > position || performance.now() - at >= heartbeatMs;
    if (!isNews || !hasRoom()) return;
    onOutput(output.readAfter(position, maxOutputChars));
    position = byteLength;
    at = performance.now();
  };
  const timer = setInterval(show, showMs);
  return () => clearInterval(timer);
}
