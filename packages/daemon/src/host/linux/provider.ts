import type { LinuxLimits } from "@thinkery/sdk/internal";

/** What a command is, and how much it may take. */
export interface CommandOrder {
  /** `agency~agent` */
  agent: string;
  /** For a shell. */
  command: string;
  limits: Pick<LinuxLimits, "memoryMb" | "network">;
  /** Of the processor, for one process. */
  cpuSeconds: number;
  /** How large it may make a file. */
  fileBytes: number;
  /** Standard output and errors, as they come. */
  onOutput(chunk: Buffer): void;
}

export interface Exit {
  /** As a shell tells it: 128 and more is a signal. Nothing where it was killed from outside. */
  code: number | null;
}

export interface StartedCommand {
  /** Nothing that the command started lives any more. Rejects where it could not even be begun. */
  exited: Promise<Exit>;
  /** Ends it, with all that it started, at once. */
  kill(): void;
}

/** Where the files are that an agent's commands work on. */
export interface AgentPlace {
  /** What its commands find as /work. */
  folder: string;
  /** A folder on the same disk that they do not see. */
  metadata: string;
  /** Whose the files are, where that is not us. */
  owner: number | undefined;
}

/**
 * Runs programs for agents, shut off from this machine and from each other. Each agent has a folder that stays, and
 * finds it as /work. Another way to do that (Docker, a service elsewhere) is another provider.
 */
export interface LinuxProvider {
  readonly name: string;
  /** Nothing where it can be used, else what to do about it in full sentences. */
  findProblem(): Promise<string | undefined>;
  start(order: CommandOrder): Promise<StartedCommand>;
  /** Makes it, where it is not there yet. */
  openPlace(agent: string): Promise<AgentPlace>;
  /** Has it been made? */
  hasPlace(agent: string): Promise<boolean>;
  /** The agent is gone, and none of its commands runs: its folder goes too. */
  forget(agent: string): Promise<void>;
}
