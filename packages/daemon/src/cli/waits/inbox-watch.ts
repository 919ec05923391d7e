import { type AgencyTarget, type AgentTarget, readTokenUser } from "@thinkery/sdk";
import { watch } from "@thinkery/sdk/client";
import type { Connection } from "../connect.ts";
import { listWaits, type OpenWaits } from "./inbox.ts";

interface InboxWatchOptions {
  connection: Connection;
  /** The agent whose asks are followed, with those of its sub-agents; or an agency with all of its agents. */
  target: AgencyTarget | AgentTarget;
  /** Called with everything that is open, at first and whenever it may have changed. */
  onWaits(waits: OpenWaits): void;
  onError(error: unknown): void;
}

/** Follows what an agent and its sub-agents, or the agents of an agency, wait for. The user's synced state tells when the inbox has changed. */
export class InboxWatch {
  private readonly options: InboxWatchOptions;
  private stopWatching: (() => void) | undefined;
  private isReading = false;
  private hasChanged = false;
  private isClosed = false;

  constructor(options: InboxWatchOptions) {
    this.options = options;
    this.refresh();
    void this.open();
  }

  close(): void {
    this.isClosed = true;
    this.stopWatching?.();
  }

  private async open(): Promise<void> {
    const { url, token } = this.options.connection;
    const { WebSocket } = await import("ws");
    if (this.isClosed) return;
    this.stopWatching = watch({
      url: `${url.replace(/^http/, "ws")}/agents/user/${encodeURIComponent(readTokenUser(token))}`,
      onState: () => this.refresh(),
      connect: (address) =>
        new WebSocket(address, {
          headers: { authorization: `Bearer ${token}` },
          perMessageDeflate: false,
        }) as unknown as globalThis.WebSocket,
    });
  }

  /** Reads the inbox again; a change during a read leads to another one. */
  private refresh(): void {
    this.hasChanged = true;
    if (!this.isReading) void this.read();
  }

  private async read(): Promise<void> {
    const { connection, target, onWaits, onError } = this.options;
    this.isReading = true;
    try {
      while (this.hasChanged && !this.isClosed) {
        this.hasChanged = false;
        const waits = await listWaits(connection.client, target);
        if (!this.isClosed) onWaits(waits);
      }
    } catch (error) {
      if (!this.isClosed) onError(error);
    } finally {
      this.isReading = false;
    }
  }
}
