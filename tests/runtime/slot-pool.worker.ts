import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { createSlotClient, type SandboxEnv } from "../../packages/runtime/src/sandbox/open.ts";
import type { SlotLease } from "../../packages/runtime/src/sandbox/slot-client.ts";

// Objects that hold slots, wait for them and die, and a daemon that only counts process generations.

interface Env extends SandboxEnv {
  Holder: { getByName(name: string): Holder };
  SANDBOX_0: string;
}

let generation = 1;

export class Daemon extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/status") return Response.json({ pid: 1, startedAt: "", main: { restarts: 0 }, slots: [] });
    const isCurrent = Number(searchParams.get("generation")) === generation;
    if (isCurrent) generation++;
    return Response.json({ generation, ...(isCurrent ? { ended: "asked" } : {}) });
  }
}

export class Holder extends DurableObject<Env> {
  readonly #abortController = new AbortController();
  readonly #positions: number[] = [];
  #lease: SlotLease | undefined;
  #status = "waiting";

  /** Requests a slot; returns at once. */
  async requestSlot(agent: string): Promise<void> {
    const options = { agent, shared: false, maxMs: 60_000, waitMs: 60_000, signal: this.#abortController.signal };
    void createSlotClient(this.env)
      ?.lease({ ...options, onPlace: (position) => void this.#positions.push(position) })
      .then(
        (lease) => {
          this.#lease = lease;
          this.#status = `has ${String(lease.service)}`;
        },
        (error: Error) => (this.#status = error.message),
      );
  }

  async inspect(): Promise<{ status: string; positions: number[] }> {
    return { status: this.#status, positions: this.#positions };
  }

  async release(): Promise<void> {
    this.#lease?.release();
  }

  async lose(): Promise<string | undefined> {
    return this.#lease?.lose(false);
  }

  async abort(): Promise<void> {
    this.#abortController.abort(new Error("aborted by the test"));
  }

  async die(): Promise<void> {
    this.ctx.abort("gone");
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, action = "", name = "", agent = ""] = new URL(request.url).pathname.split("/");
    if (action === "status") return Response.json({ ...(await createSlotClient(env)?.status()), generation });
    if (action === "forget") return Response.json((await createSlotClient(env)?.forget(name)) ?? null);
    const holder = env.Holder.getByName(name) as unknown as Record<string, (agent: string) => Promise<unknown>>;
    if (name === "") return new Response("ready");
    return Response.json((await holder[action]?.(agent).catch((error: Error) => error.message)) ?? null);
  },
};
