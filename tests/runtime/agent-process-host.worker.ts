import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { openHost } from "../../packages/runtime/src/host/host.ts";
import { openAgentSandbox, ProcessLostError } from "../../packages/runtime/src/sandbox/agent-sandbox.ts";
import { createSlotClient, type SandboxEnv } from "../../packages/runtime/src/sandbox/open.ts";
import type { SendOptions } from "./agent-process-request.ts";

// Main as the daemon starts it, but its objects only let the code of user agents handle requests.

interface Env extends SandboxEnv {
  Think: { getByName(name: string): Think };
}

/** An agent's object: requests to its code can be held at a host call until the test lets them go on. */
export class Think extends DurableObject<Env> {
  readonly #sandbox = openAgentSandbox(this.env);
  readonly #interrupt = new AbortController();
  #gate = Promise.withResolvers<void>();
  /** Requests that wait at the gate. */
  readonly #held = new Set<SendOptions>();

  async send(options: SendOptions): Promise<object> {
    const { owner, code, isolateId, payload, isAlone = false, waitMs } = options;
    const logged: string[] = [];
    const sent = this.#sandbox.send(
      { route: "message", payload: JSON.stringify(payload), isolateId },
      {
        owner,
        isAlone,
        signal: this.#interrupt.signal,
        ...(waitMs === undefined ? {} : { waitMs }),
        readCode: () => ({ code }),
        call: async (capability, input) => {
          if (capability === "log") logged.push((JSON.parse(input) as { text: string }).text);
          if (capability !== "fetch") return "";
          this.#held.add(options);
          await this.#gate.promise;
          this.#held.delete(options);
          return JSON.stringify({ status: 200, body: "" });
        },
        onConsole() {},
      },
    );
    return sent
      .then(
        (outcome) => ({ outcome, logged }),
        (error: Error) => (error instanceof ProcessLostError ? { lost: error.ended } : { rejected: error.message }),
      )
      .finally(() => this.#held.delete(options));
  }

  /** Returns the number of requests that are held. */
  async count(): Promise<number> {
    return this.#held.size;
  }

  async die(): Promise<void> {
    this.ctx.abort("gone");
  }

  async open(): Promise<void> {
    this.#gate.resolve();
    this.#gate = Promise.withResolvers();
  }
}

export class Agency extends DurableObject<Env> {}
export class User extends DurableObject<Env> {}

/** What the daemon asks before it stops main. */
export class Supervision extends WorkerEntrypoint {
  override fetch(): Response {
    return new Response(null, { status: 204 });
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, action = "", name = "", agentId] = new URL(request.url).pathname.split("/");
    const sandbox = openAgentSandbox(env);
    const object = env.Think.getByName(name);
    const actions: Record<string, () => Promise<unknown>> = {
      health: async () => ({ status: "ok" }),
      processes: async () => {
        const { slots } = (await openHost(env.HOST)?.status()) ?? { slots: [] };
        const leased = (await createSlotClient(env, "agents")?.status())?.slots ?? [];
        return slots.map(({ generation }, index) => ({ generation, owner: leased[index]?.agent }));
      },
      describe: () => sandbox.describe(name),
      forget: () => sandbox.forget(name, agentId),
      send: async () => object.send(await request.json<SendOptions>()),
      count: () => object.count(),
      open: () => object.open(),
      die: () => object.die().catch(() => {}),
    };
    const act = actions[action];
    return act ? Response.json((await act()) ?? null) : new Response(null, { status: 404 });
  },
};
