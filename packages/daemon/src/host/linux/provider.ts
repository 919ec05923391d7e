import type { LinuxLimits } from "@thinkery/sdk/internal";

/** A command to start, with its limits. */
export interface CommandSpec {
  /** `agency~agent` */
  agent: string;
  /** A shell command. */
  command: string;
  limits: Pick<LinuxLimits, "memoryMb" | "maxProcessesPerCommand" | "network">;
  /** Maximum CPU time of one process. */
  cpuSeconds: number;
  /** Maximum size of a file it writes. */
  fileBytes: number;
  /** Receives stdout and stderr combined. */
  onOutput(chunk: Buffer): void;
}

export interface Exit {
  /** As in a shell: more than 128 means a signal. Null if it was killed from outside. */
  code: number | null;
}

/** What a command uses, with everything it started. */
export interface CommandUsage {
  /** Threads count as well. */
  processes: number;
  memoryBytes: number;
}

export interface StartedCommand {
  /** Resolves when the command and everything it started are gone. Rejects if it could not be started. */
  exited: Promise<Exit>;
  /** Kills the command and everything it started. */
  kill(): void;
  /** Returns undefined if it is not known. */
  measureUsage(): CommandUsage | undefined;
}

/** The folders of an agent. */
export interface AgentStorage {
  /** Mounted as /work for its commands. */
  folder: string;
  /** A folder on the same disk that its commands cannot see. */
  metadata: string;
  /** User id of the files' owner, if it is not ours. */
  owner: number | undefined;
}

/**
 * Runs programs for agents, isolated from this machine and from each other. Each agent has a persistent folder, mounted
 * as /work. Other ways to do that (Docker, a remote service) would be other providers.
 */
export interface LinuxProvider {
  readonly name: string;
  /** Returns undefined if the provider works, otherwise why not and what to do, in full sentences. */
  findIssue(): Promise<string | undefined>;
  start(spec: CommandSpec): Promise<StartedCommand>;
  /** Creates the folders if they do not exist. */
  openStorage(agent: string): Promise<AgentStorage>;
  hasStorage(agent: string): Promise<boolean>;
  /** Deletes the folders of an agent that is gone and runs no commands. */
  forget(agent: string): Promise<void>;
}
