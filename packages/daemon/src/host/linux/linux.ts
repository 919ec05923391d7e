import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
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
  /** Never rejects. */
  isDiskFull(): Promise<boolean>;
}

interface CommandRequest {
  agent: string;
  command: string;
  timeoutMs?: number | undefined;
}

/** The caller of a command in the foreground. */
interface CommandListener {
  onOutput(text: string): void;
  /** If false, output is not passed on and not buffered for the caller. */
  hasRoom(): boolean;
  /** Aborts when the caller disconnects; the command is then stopped. */
  signal: AbortSignal;
}

/** Output kept of a foreground command, and of a background process. */
const commandOutputLimits = { head: 256 * 1024, tail: 768 * 1024 };
const processOutputLimits = { head: 0, tail: 256 * 1024 };
/** Maximum size of each streamed piece of output, and the interval between them. */
const maxStreamedBytes = 32 * 1024;
const streamIntervalMs = 100;
/** Interval of empty pieces for a command without output. */
const heartbeatMs = 20_000;
/** Interval of checks of what commands use. Longer if checking takes long, so that it takes a tenth of the time. */
const usageCheckMs = 200;
const usageCheckFactor = 10;
const diskCheckMs = 300;
/** Maximum CPU time of a background process. */
const maxCpuSeconds = 3600;
const maxFileBytes = 1024 * 1024 * 1024;
/** Maximum running commands of all agents together. */
const maxCommands = 64;

/** The Linux sandbox of a host: runs the commands and background processes of its agents. */
export class LinuxSandbox {
  readonly #options: LinuxSandboxOptions;
  readonly #running: RunningCommands;
  readonly #processes = new Processes();
  readonly #deleting = new Set<string>();
  #copies: Promise<WorkingCopies> | undefined;
  #diskWatch: ReturnType<typeof setInterval> | undefined;
  #isWatchingUsage = false;
  #isClosed = false;

  constructor(options: LinuxSandboxOptions) {
    this.#options = options;
    this.#running = new RunningCommands({ maxPerAgent: options.limits.maxProcesses, maxTotal: maxCommands });
  }

  /** Runs a command in the foreground; resolves when it ends. */
  async run(
    { agent, command, timeoutMs }: CommandRequest,
    { onOutput, hasRoom, signal }: CommandListener,
  ): Promise<CommandResult> {
    const { timeoutSeconds, maxTimeoutSeconds } = this.#options.limits;
    const limitMs = Math.min(timeoutMs ?? timeoutSeconds * 1000, maxTimeoutSeconds * 1000);
    // Only a backstop: enough to use all processors the whole time.
    const cpuSeconds = Math.ceil(limitMs / 1000) * cpus().length + 10;
    const started = await this.#startCommand(agent, command, new CommandOutput(commandOutputLimits), cpuSeconds);
    const stopStreaming = streamOutput(started.output, onOutput, hasRoom);
    const timer = setTimeout(() => started.kill("timeout"), limitMs);
    const stop = () => started.kill("stop");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      const end = await started.ended;
      return { ...end, output: started.output.toText(), ms: Date.now() - started.startedAt.getTime() };
    } finally {
      stopStreaming();
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Starts a background process. */
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

  /** Returns the output after the first `after` bytes. */
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

  /** The working copies of the workspaces in the agents' folders. Loaded on first use. */
  readonly loadCopies = (): Promise<WorkingCopies> => {
    const { provider, isDiskFull } = this.#options;
    this.#copies ??= import("./copy/working-copies.ts").then(
      ({ WorkingCopies }) => new WorkingCopies({ provider, isDiskFull }),
    );
    return this.#copies;
  };

  /** Stops everything that a deleted agent runs and deletes its folder. Safe to call again. */
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

  /** Stops everything and refuses further commands. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running.stop();
  }

  async #startCommand(agent: string, command: string, output: CommandOutput, cpuSeconds: number): Promise<Command> {
    if (this.#isClosed) throw fail("unavailable", "The host is stopping.");
    if (this.#deleting.has(agent)) throw fail("conflict", "The agent is being deleted.");
    const started = this.#running.start(agent, () => this.#spawnCommand(agent, command, output, cpuSeconds));
    this.#watchDisk();
    if (!this.#isWatchingUsage) void this.#watchUsage();
    return started;
  }

  async #spawnCommand(agent: string, command: string, output: CommandOutput, cpuSeconds: number): Promise<Command> {
    const { provider, limits, isDiskFull } = this.#options;
    // Commands that free up space must still be possible.
    const isFull = await isDiskFull();
    if (isFull) output.write(Buffer.from("[The disk is almost full: files can be removed, but not written.]\n"));
    const onOutput = (chunk: Buffer) => output.write(chunk);
    const started = await provider.start({
      agent,
      command,
      limits,
      cpuSeconds,
      fileBytes: isFull ? 0 : maxFileBytes,
      onOutput,
    });
    return new Command(started, output, !isFull);
  }

  /** Stops writers when the disk is full: the size of a file is limited, but not their number. */
  #watchDisk(): void {
    this.#diskWatch ??= setInterval(async () => {
      if (this.#running.size === 0) {
        clearInterval(this.#diskWatch);
        this.#diskWatch = undefined;
      } else if (await this.#options.isDiskFull()) {
        for (const command of this.#running.listStarted()) if (command.canWrite) command.kill("disk");
      }
    }, diskCheckMs);
  }

  /**
   * Ends commands that exceed their limits. The kernel limits each process only, and the processes of a command only on
   * newer systems.
   */
  async #watchUsage(): Promise<void> {
    const { memoryMb, maxProcessesPerCommand } = this.#options.limits;
    const limits = { memoryBytes: memoryMb * 1024 * 1024, processes: maxProcessesPerCommand };
    let tookMs = 0;
    this.#isWatchingUsage = true;
    while (this.#running.size > 0) {
      await sleep(Math.max(usageCheckMs, tookMs * usageCheckFactor));
      const startedAt = performance.now();
      for (const command of this.#running.listStarted()) command.enforceLimits(limits);
      tookMs = performance.now() - startedAt;
    }
    this.#isWatchingUsage = false;
  }
}

/** Streams the output in pieces until the returned function is called. */
function streamOutput(output: CommandOutput, onOutput: (text: string) => void, hasRoom: () => boolean): () => void {
  let position = 0;
  let sentAt = performance.now();
  const send = () => {
    const { byteLength } = output;
    const isDue = byteLength > position || performance.now() - sentAt >= heartbeatMs;
    if (!isDue || !hasRoom()) return;
    onOutput(output.readAfter(position, maxStreamedBytes));
    position = byteLength;
    sentAt = performance.now();
  };
  const timer = setInterval(send, streamIntervalMs);
  return () => clearInterval(timer);
}
