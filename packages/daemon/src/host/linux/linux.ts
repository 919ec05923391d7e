import { cpus } from "node:os";
import { type CommandResult, fail, type ProcessInfo, type ProcessOutput } from "@thinkery/sdk";
import type { LinuxLimits } from "@thinkery/sdk/internal";
import { Command } from "./command.ts";
import type { WorkspaceCopies } from "./copy/copies.ts";
import { Output } from "./output.ts";
import { Processes } from "./processes.ts";
import type { LinuxProvider } from "./provider.ts";
import { UnderWay } from "./under-way.ts";

interface LinuxOptions {
  provider: LinuxProvider;
  limits: LinuxLimits;
  /** Has the disk no more room? Never rejects. */
  isFull(): Promise<boolean>;
}

interface Wanted {
  agent: string;
  command: string;
  timeoutMs?: number | undefined;
}

/** Whoever waits for a command. */
interface Waiting {
  onOutput(text: string): void;
  /** Can they take more? What they cannot is not kept for them. */
  hasRoom(): boolean;
  /** They are gone, and the command goes too. */
  signal: AbortSignal;
}

/** What is kept of a command that is waited for, and of a process. */
const ofCommand = { head: 256 * 1024, tail: 768 * 1024 };
const ofProcess = { head: 0, tail: 256 * 1024 };
/** So much is shown at a time, so often. */
const maxOutputChars = 32 * 1024;
const showMs = 100;
/** A command that says nothing is said to be alive. */
const silenceMs = 20_000;
const lookAtDiskMs = 300;
/** Time of the processor for a process that nobody waits for, in seconds. */
const maxCpuSeconds = 3600;
const maxFileBytes = 1024 * 1024 * 1024;
/** Of all agents together. */
const maxCommands = 64;

/** The Linux sandbox of a host: what its agents run in it, and what became of that. */
export class LinuxSandbox {
  readonly #options: LinuxOptions;
  readonly #underWay: UnderWay;
  readonly #processes = new Processes();
  readonly #forgetting = new Set<string>();
  #copies: Promise<WorkspaceCopies> | undefined;
  #diskWatch: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  constructor(options: LinuxOptions) {
    this.#options = options;
    this.#underWay = new UnderWay({ each: options.limits.processes, all: maxCommands });
  }

  /** Runs a command and waits for it. */
  async run({ agent, command, timeoutMs }: Wanted, { onOutput, hasRoom, signal }: Waiting): Promise<CommandResult> {
    const { seconds, mostSeconds } = this.#options.limits;
    const limitMs = Math.min(timeoutMs ?? seconds * 1000, mostSeconds * 1000);
    // As a backstop only: all processors, all the time.
    const cpuSeconds = Math.ceil(limitMs / 1000) * cpus().length + 10;
    const begun = await this.#begin(agent, command, new Output(ofCommand), cpuSeconds);
    const stopShowing = shown(begun.output, onOutput, hasRoom);
    const late = setTimeout(() => begun.kill("timeout"), limitMs);
    const leave = () => begun.kill("stop");
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    try {
      const end = await begun.ended;
      return { ...end, output: begun.output.text(), ms: Date.now() - begun.startedAt.getTime() };
    } finally {
      stopShowing();
      clearTimeout(late);
      signal.removeEventListener("abort", leave);
    }
  }

  /** Starts one that goes on. */
  async start({ agent, command }: Wanted): Promise<ProcessInfo> {
    return this.#processes.add(agent, command, await this.#begin(agent, command, new Output(ofProcess), maxCpuSeconds));
  }

  list(agent: string): ProcessInfo[] {
    return this.#processes.list(agent);
  }

  /** What it wrote after so many bytes. */
  read(agent: string, id: string, after = 0): ProcessOutput {
    const { command, info } = this.#processes.get(agent, id);
    return { ...info(), output: command.output.after(after) };
  }

  async stop(agent: string, id: string): Promise<ProcessInfo> {
    const { command, info } = this.#processes.get(agent, id);
    command.kill("stop");
    await command.ended.catch(() => {});
    return info();
  }

  /** The workspaces as they lie in the folders of the commands. Loaded with the first one. */
  readonly copies = (): Promise<WorkspaceCopies> => {
    const { provider, isFull } = this.#options;
    this.#copies ??= import("./copy/copies.ts").then(({ WorkspaceCopies }) => new WorkspaceCopies({ provider, isFull }));
    return this.#copies;
  };

  /** The agent is deleted: what it runs ends, and its folder goes. Safe to ask again. */
  async forget(agent: string): Promise<void> {
    this.#forgetting.add(agent);
    try {
      await this.#underWay.end(agent);
      this.#processes.forget(agent);
      (await this.#copies)?.forget(agent);
      await this.#options.provider.forget(agent);
    } finally {
      this.#forgetting.delete(agent);
    }
  }

  /** Ends everything, for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#underWay.end();
  }

  async #begin(agent: string, command: string, output: Output, cpuSeconds: number): Promise<Command> {
    if (this.#closed) throw fail("unavailable", "The host is stopping.");
    if (this.#forgetting.has(agent)) throw fail("conflict", "The agent is being deleted.");
    const begun = this.#underWay.begin(agent, () => this.#make(agent, command, output, cpuSeconds));
    this.#watchDisk();
    return begun;
  }

  async #make(agent: string, command: string, output: Output, cpuSeconds: number): Promise<Command> {
    const { provider, limits, isFull } = this.#options;
    // To make room again must be possible.
    const full = await isFull();
    if (full) output.write(Buffer.from("[The disk is almost full: files can be removed, but not written.]\n"));
    const onOutput = (chunk: Buffer) => output.write(chunk);
    const started = await provider.start({ agent, command, limits, cpuSeconds, fileBytes: full ? 0 : maxFileBytes, onOutput });
    return new Command(started, output, !full);
  }

  /** A file has its limit, but there may be many of them. */
  #watchDisk(): void {
    this.#diskWatch ??= setInterval(async () => {
      if (this.#underWay.size === 0) {
        clearInterval(this.#diskWatch);
        this.#diskWatch = undefined;
      } else if (await this.#options.isFull()) this.#underWay.crowdedOut();
    }, lookAtDiskMs);
  }
}

/** Shows what is written, a piece now and then, until the answered function is called. */
function shown(output: Output, onOutput: (text: string) => void, hasRoom: () => boolean): () => void {
  let position = 0;
  let at = performance.now();
  const show = () => {
    const { bytes } = output;
    const isNews = bytes > position || performance.now() - at >= silenceMs;
    if (!isNews || !hasRoom()) return;
    onOutput(output.after(position, maxOutputChars));
    position = bytes;
    at = performance.now();
  };
  const timer = setInterval(show, showMs);
  return () => clearInterval(timer);
}
