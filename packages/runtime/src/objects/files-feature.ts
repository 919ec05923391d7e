import type { NewEvent } from "@thinkery/sdk";
import type { Connection } from "agents";
import type { Blobs } from "../store/blobs/blobs.ts";
import { LocalWorkspace } from "../workspace/local-workspace.ts";
import { getWorkspaceLimits } from "../workspace/quota.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { Env } from "./env.ts";
import type { AgentFeature } from "./feature.ts";
import { LiveSockets } from "./live-sockets.ts";

interface FilesOptions {
  storage: DurableObjectStorage;
  blobs: Blobs;
  env: Env;
  record(event: NewEvent): void;
  /** Throws if the user has no disk space for so many more bytes. */
  checkGrowth(bytes: number): void;
}

/** An agent's workspace, and the clients that edit it live. */
export class FilesFeature implements AgentFeature {
  readonly workspace: Workspace;
  readonly port: LocalWorkspace;
  readonly live: LiveSockets;

  constructor({ env, ...options }: FilesOptions) {
    const { storage } = options;
    this.workspace = new Workspace({ ...options, limits: getWorkspaceLimits(env) });
    this.port = new LocalWorkspace(this.workspace);
    this.live = new LiveSockets(this.workspace, storage);
  }

  wake(connections: readonly Connection[]): void {
    this.live.restore(connections.filter((connection) => this.live.has(connection)));
  }

  /** After a clear, the model no longer knows the files it has seen. */
  clear(): void {
    this.workspace.seen.clear();
  }
}
