import type { NewEvent } from "@thinkery/sdk";
import { Redactor } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import { WaitingCalls } from "../../packages/runtime/src/objects/subagents/waiting-calls.ts";
import { AgentStore } from "../../packages/runtime/src/store/agent-store.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { TurnWaits } from "../../packages/runtime/src/turn/admission/turn-waits.ts";
import { Recorder } from "../../packages/runtime/src/turn/loop/recorder.ts";

interface ReportRequest {
  step: "record" | "resolve" | "log";
  events?: NewEvent[];
  /** Whether blobs cannot be stored during this step. */
  isBroken?: boolean;
}

const listener = { onRecorded() {}, onText() {}, onProgress() {}, onActivity() {} };

/** The calls of an agent that wait for sub-agents, driven step by step by a test. */
export class Reports extends DurableObject {
  readonly #store: AgentStore;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrate(ctx.storage, thinkSchema);
    this.#store = new AgentStore(ctx.storage, "global~test", new Redactor([]));
  }

  override async fetch(request: Request): Promise<Response> {
    const { step, events = [], isBroken = false } = (await request.json()) as ReportRequest;
    const store = this.#store;
    const blobs = {
      put: () => (isBroken ? Promise.reject(new Error("The disk is full.")) : Promise.resolve("0".repeat(64))),
      get: () => Promise.resolve(undefined),
    };
    const recorder = new Recorder(store, listener, new Redactor([]));
    const waits = new TurnWaits({ store, blobs, recorder, resume: (_, ...resumed) => recorder.record(...resumed) });
    const calls = new WaitingCalls({
      store,
      blobs,
      resolveToolCall: (report, createMore) => waits.resolveToolCall(report, createMore),
    });
    if (step === "record") store.record(events);
    const failure = step === "resolve" ? await calls.resolveAll().catch((error: Error) => error.message) : undefined;
    return Response.json({ failure, log: store.log.read(0, 1000) });
  }
}

export default {
  fetch(request: Request, env: { Reports: DurableObjectNamespace<Reports> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.Reports.getByName(new URL(request.url).pathname).fetch(request);
  },
};
