import { fail, toErrorBody, toHttpStatus } from "@thinkery/sdk";
import { Agent, type Connection } from "agents";
import type { Env } from "./env.ts";

const maxFrameBytes = 1024 * 1024;

/**
 * What Think, Agency and User have in common: they live on the Agents SDK, whose routes are open by default,
 * and close here what it leaves open.
 */
export abstract class BaseObject<State> extends Agent<Env & Cloudflare.Env, State> {
  #awake: Promise<void> | undefined;

  /**
   * Clients read state; only the object itself writes it. Not by making connections read-only: the SDK would then
   * refuse the object's own writes in whatever a client's frame set going, a whole turn for instance.
   */
  override validateStateChange(_next: State, source: Connection | "server"): void {
    if (source !== "server") throw fail("forbidden", "Clients may not write state.");
  }

  /** A `/sub/` path would otherwise create a facet of any exported class under any name. */
  override async onBeforeSubAgent(
    _request: Request,
    child: { className: string; name: string },
  ): Promise<Response | undefined> {
    if (this.dynamicAgents.has(child.className, child.name)) return undefined;
    return toNotFoundResponse(`There is no sub-agent “${child.name}” here.`);
  }

  override onRequest(_request: Request): Response {
    return toNotFoundResponse("There is nothing at this address.");
  }

  /**
   * A handshake that fails in the SDK would send its stack to the client. It does so only where `Upgrade` is spelled
   * in small letters, and otherwise answers a plain 500, which `http/forward.ts` hides.
   */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return super.fetch(request);
    const headers = new Headers(request.headers);
    headers.set("upgrade", "WebSocket");
    return super.fetch(new Request(request, { headers }));
  }

  /** A client that closes without a code is answered too, or its socket would stay half closed. */
  override async webSocketClose(socket: WebSocket, code: number, reason: string, wasClean: boolean): Promise<void> {
    await this.lifecycle.webSocketClose(socket, code, reason, wasClean);
    try {
      socket.close(code === 1005 || code === 1006 ? 1000 : code, reason);
    } catch {
      // It was closed by the time we came to it.
    }
  }

  /** The SDK parses a frame before anybody can look at it, so its size is checked in front of the SDK. */
  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const size = typeof message === "string" ? message.length : message.byteLength;
    if (size > maxFrameBytes) {
      // Edits are binary. A client that has too much for one frame would otherwise come back with it for ever.
      socket.close(typeof message === "string" ? 1009 : 4413, `A frame may have ${maxFrameBytes} bytes.`);
      return;
    }
    await this.lifecycle.webSocketMessage(socket, message);
  }

  /**
   * Once a wake, before the first call: starts the SDK's side, which JS RPC bypasses, and finishes what a
   * crash left half done.
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
