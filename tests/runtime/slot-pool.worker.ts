import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { createSlotClient, type SandboxEnv } from "../../packages/runtime/src/sandbox/open.ts";
import type { SlotLease } from "../../packages/runtime/src/sandbox/slot-client.ts";

// Objects that hold slots, wait for them and die, and a daemon that only counts processes.

interface Env extends SandboxEnv {
  Holder: { getByName(name: string): Holder };
  SANDBOX_0: string;
}

let generation = 1;

export class Daemon extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/status") return Response.json({ pid: 1, startedAt: "", main: { restarts: 0 }, slots: [] });
    const given = Number(searchParams.get("generation"));
    const isCurrent = given === generation;
    if (isCurrent) generation++;
    return Response.json({ generation, ...(isCurrent ? { ended: "asked" } : {}) });
  }
}

export class Holder extends DurableObject<Env> {
  readonly #aborting = new AbortController();
  readonly #places: number[] = [];
  #lease: SlotLease | undefined;
  #end = "waits";

  /** Asks for a slot; comes back at once. */
  async ask(agent: string): Promise<void> {
    const terms = { agent, shared: false, maxMs: 60_000, waitMs: 60_000, signal: this.#aborting.signal };
    void createSlotClient(this.env)
      ?.lease({ ...terms, onPlace: (before) => void this.#places.push(before) })
      .then(
        (lease) => {
          this.#lease = lease;
          this.#end = `has ${String(lease.service)}`;
        },
        (error: Error) => (this.#end = error.message),
      );
  }

  async look(): Promise<{ end: string; places: number[] }> {
    return { end: this.#end, places: this.#places };
  }

  async release(): Promise<void> {
    this.#lease?.release();
  }

  async lose(): Promise<string | undefined> {
    return this.#lease?.lose(false);
  }

  async abort(): Promise<void> {
    this.#aborting.abort(new Error("not any more"));
  }

  async die(): Promise<void> {
    this.ctx.abort("gone");
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, what = "", name = "", agent = ""] = new URL(request.url).pathname.split("/");
    if (what === "status") return Response.json({ ...(await createSlotClient(env)?.status()), generation });
    if (what === "forget") return Response.json((await createSlotClient(env)?.forget(name)) ?? null);
    const holder = env.Holder.getByName(name) as unknown as Record<string, (agent: string) => Promise<unknown>>;
    if (name === "") return new Response("ready");
    return Response.json((await holder[what]?.(agent).catch((error: Error) => error.message)) ?? null);
  },
};
