import { fail, errorBody, statusOf } from "@thinkery/sdk";
import { Agent, type Connection, type ConnectionContext } from "agents";
import type { Env } from "./env.ts";

const longestFrame = 1024 * 1024;

/**
 * What Think, Agency and User have in common: they live on the Agents SDK, whose routes are open by default,
 * and close here what it leaves open.
 */
export abstract class Housed<State> extends Agent<Env & Cloudflare.Env, State> {
  #settled: Promise<void> | undefined;

  /** Clients read state; only the object itself writes it. */
  override shouldConnectionBeReadonly(_connection: Connection, _context: ConnectionContext): boolean {
    return true;
  }

  /** A `/sub/` path would otherwise create a facet of any exported class under any name. */
  override async onBeforeSubAgent(
    _request: Request,
    child: { className: string; name: string },
  ): Promise<Response | undefined> {
    if (this.dynamicAgents.has(child.className, child.name)) return undefined;
    return refusal(`There is no sub-agent “${child.name}” here.`);
  }

  override onRequest(_request: Request): Response {
    return refusal("There is nothing at this address.");
  }

  /** The SDK parses a frame before anybody can look at it, so its size is checked in front of the SDK. */
  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const size = typeof message === "string" ? message.length : message.byteLength;
    if (size > longestFrame) {
      socket.close(1009, `A frame may have ${longestFrame} bytes.`);
      return;
    }
    await this.lifecycle.webSocketMessage(socket, message);
  }

  /**
   * Once a wake, before the first call: starts the SDK's side, which JS RPC bypasses, and finishes what a
   * crash left half done.
   */
  protected ready(): Promise<void> {
    this.#settled ??= (async () => {
      await this.__unsafe_ensureInitialized();
      await this.settle();
    })().catch((error: unknown) => {
      this.#settled = undefined;
      throw error;
    });
    return this.#settled;
  }

  protected abstract settle(): Promise<void>;
}

function refusal(message: string): Response {
  const error = fail("not_found", message);
  return Response.json(errorBody(error), { status: statusOf(error.code) });
}
