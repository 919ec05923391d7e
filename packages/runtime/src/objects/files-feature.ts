import type { NewEvent } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Connection } from "agents";
import type { BlobSource } from "../store/blobs/blob-page.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { LocalWorkspace } from "../workspace/local-workspace.ts";
import { getWorkspaceLimits } from "../workspace/quota.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { Env } from "./env.ts";
import type { AgentFeature } from "./feature.ts";
import { hasLiveState, LiveSockets } from "./live-sockets.ts";

interface FilesOptions {
  storage: DurableObjectStorage;
  blobs: Blobs;
  env: Env;
  record(event: NewEvent): void;
  /** Throws if the user has no disk space for so many more bytes in the database. */
  checkGrowth(bytes: number): void;
  getOwner(): string;
  /** Whether the workspace has its tables. A sub-agent works on its root agent's files and needs none. */
  hasTables: boolean;
  createTables(): void;
  /** Called after each change of the files. */
  onCommit?(): void;
}

interface Parts {
  workspace: Workspace;
  port: LocalWorkspace;
  live: LiveSockets;
}

/** The workspace of an agent, or an agency's documents, and the clients that edit it live. Created when it is first used. */
export class FilesFeature implements AgentFeature {
  readonly limits: WorkspaceLimits;
  readonly #options: FilesOptions;
  #parts: Parts | undefined;
  #hasTables: boolean;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#hasTables = options.hasTables;
    this.limits = getWorkspaceLimits(options.env);
  }

  get workspace(): Workspace {
    return this.#open().workspace;
  }

  get port(): LocalWorkspace {
    return this.#open().port;
  }

  get live(): LiveSockets {
    return this.#open().live;
  }

  /** Everything in it that refers to blobs. */
  get blobSources(): BlobSource[] {
    return this.#hasTables ? this.workspace.blobSources : [];
  }

  wake(connections: readonly Connection[]): void {
    const live = connections.filter(hasLiveState);
    if (live.length > 0) this.live.restore(live);
  }

  /** After a clear, the model no longer knows the files it has seen. */
  clear(): void {
    if (this.#hasTables) this.workspace.seen.clear();
  }

  #open(): Parts {
    return (this.#parts ??= this.#create());
  }

  #create(): Parts {
    const { hasTables: _, createTables, onCommit, env: __, ...options } = this.#options;
    if (!this.#hasTables) createTables();
    this.#hasTables = true;
    const workspace = new Workspace({ ...options, limits: this.limits });
    if (onCommit) workspace.subscribe(onCommit);
    return { workspace, port: new LocalWorkspace(workspace), live: new LiveSockets(workspace, options.storage) };
  }
}
