import { openOutbound } from "../host/outbound.ts";
import { createSecretRedactor } from "../model/redactor.ts";
import { openLinux } from "../sandbox/linux.ts";
import { openSandbox } from "../sandbox/open.ts";
import { createCapabilities } from "../tools/capabilities/capabilities.ts";
import { ShellFiles } from "../turn/calls/shell-files.ts";
import type { TurnDeps } from "../turn/turn-deps.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import type { Env } from "./env.ts";

interface TurnEnvironmentOptions {
  env: Env;
  /** The agent's address. */
  name: string;
  /** Whose sandbox processes the agent's code runs in. */
  sandboxKey: string;
  workspace: WorkspacePort;
}

type Environment = Pick<
  TurnDeps,
  "capabilities" | "sandbox" | "workspace" | "branch" | "shellFiles" | "sandboxKey" | "linux"
>;

/** Where the turns of an agent run, and on which files. Shared by all its turns. */
export class TurnEnvironment {
  readonly #workspace: WorkspacePort;
  readonly #shared: Omit<Environment, "branch" | "shellFiles">;
  #files: Pick<Environment, "branch" | "shellFiles"> | undefined;

  constructor({ env, name, sandboxKey, workspace }: TurnEnvironmentOptions) {
    this.#workspace = workspace;
    this.#shared = {
      capabilities: createCapabilities(openOutbound(env), createSecretRedactor(env).redactLog),
      sandbox: openSandbox(env),
      workspace,
      sandboxKey,
      linux: openLinux(env, name),
    };
  }

  /** The branch is known once the agent is registered, and stays the same. */
  get(branch: string | undefined): Environment {
    if (this.#files?.branch !== branch || !this.#files)
      this.#files = { branch, shellFiles: new ShellFiles(this.#workspace, branch) };
    return { ...this.#shared, ...this.#files };
  }
}
