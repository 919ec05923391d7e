import { fail, toErrorBody, toHttpStatus } from "@thinkery/sdk";
import { Agent, type Connection, type ConnectionContext } from "agents";
import { type ConnectionHolder, type Credential, CredentialWatch } from "./credential-watch.ts";
import type { Env } from "./env.ts";

const maxFrameBytes = 1024 * 1024;

/**
 * Base class of Think, Agency and User. They build on the Agents SDK, whose routes are open by default; this class
 * closes them.
 */
export abstract class BaseObject<State> extends Agent<Env & Cloudflare.Env, State> {
  #awake: Promise<void> | undefined;
  /** Ends sockets and streams with the credential that opened them. */
  protected readonly credentialWatch: CredentialWatch;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env, kind: ConnectionHolder["kind"]) {
    super(ctx, env);
    releaseInterruptedJobs(ctx.storage.sql);
    const { name = "" } = ctx.id;
    // The SDK names facets itself. Nobody else may address an object by such a name: that would create one.
    const holder = name.startsWith("cf-agents:") ? undefined : { kind, name };
    this.credentialWatch = new CredentialWatch({ ctx, env, holder });
  }

  /** Called by a user's object when one of its credentials was revoked or has expired. */
  async closeConnections(credential: Credential): Promise<void> {
    this.credentialWatch.close(credential);
  }

  override getConnectionTags(_connection: Connection, { request }: ConnectionContext): string[] {
    return CredentialWatch.createTags(request);
  }

  /**
   * Only the object itself writes its state. Connections are not made read-only, because the SDK would then also reject
   * the object's own writes in whatever a client's frame started, such as a whole turn.
   */
  override validateStateChange(_next: State, source: Connection | "server"): void {
    if (source !== "server") throw fail("forbidden", "Clients cannot write state.");
  }

  /** Without this, a `/sub/` path could create a facet of any exported class under any name. */
  override async onBeforeSubAgent(
    _request: Request,
    child: { className: string; name: string },
  ): Promise<Request | Response | undefined> {
    if (this.dynamicAgents.has(child.className, child.name)) return undefined;
    return toNotFoundResponse(`Sub-agent “${child.name}” not found.`);
  }

  override onRequest(_request: Request): Response {
    return toNotFoundResponse("No such endpoint.");
  }

  /**
   * If a handshake fails, the SDK sends the stack to the client, but only if `Upgrade` is lower case. Otherwise it
   * responds with a plain 500, which `http/forward.ts` hides.
   */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return super.fetch(request);
    const headers = new Headers(request.headers);
    headers.set("upgrade", "WebSocket");
    const response = await super.fetch(new Request(request, { headers }));
    if (response.status === 101) this.credentialWatch.watchSocket(request);
    return response;
  }

  /** Also completes a close without a code, or the socket would stay half closed. */
  override async webSocketClose(socket: WebSocket, code: number, reason: string, wasClean: boolean): Promise<void> {
    await this.lifecycle.webSocketClose(socket, code, reason, wasClean);
    this.credentialWatch.noteClosed(socket);
    try {
      socket.close(code === 1005 || code === 1006 ? 1000 : code, reason);
    } catch {
      // Already closed.
    }
  }

  /** Checks the size first, because the SDK parses a frame before it calls any hook. */
  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    // The client of a socket that we closed may go on sending.
    if (socket.readyState !== 1) return;
    const size = typeof message === "string" ? message.length : message.byteLength;
    if (size > maxFrameBytes) {
      // Live edits are binary. With 1009, a client with too large an edit would reconnect and resend it forever.
      socket.close(typeof message === "string" ? 1009 : 4413, `The frame exceeds the limit of ${maxFrameBytes} bytes.`);
      return;
    }
    await this.lifecycle.webSocketMessage(socket, message);
  }

  /**
   * Runs once per wake, before the first call: initializes the SDK, which JS RPC bypasses, and finishes what a crash
   * interrupted.
   */
  protected ensureReady(): Promise<void> {
    this.#awake ??= (async () => {
      await this.__unsafe_ensureInitialized();
      await this.wake();
    })().catch((error: unknown) => {
      this.#awake = undefined;
      throw error;
    });
    return this.#awake;
  }

  protected abstract wake(): void | Promise<void>;
}

function toNotFoundResponse(message: string): Response {
  const error = fail("not_found", message);
  return Response.json(toErrorBody(error), { status: toHttpStatus(error.code) });
}

/**
 * The SDK marks an interval while it runs, so that it does not overlap itself. After a crash, the mark would keep it
 * from running for another 30 s; when an object is constructed, nothing of it can be running.
 */
function releaseInterruptedJobs(sql: SqlStorage): void {
  const [table] = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cf_agents_jobs'").toArray();
  if (table) sql.exec("UPDATE cf_agents_jobs SET running = 0, execution_started_at = NULL WHERE running = 1");
}
