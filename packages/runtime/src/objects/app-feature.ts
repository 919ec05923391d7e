import {
  type AgentAddress,
  formatAppAddress,
  type AppInfo,
  fail,
  formatAddress,
  type NewApp,
  type StoredApp,
  ToolError,
} from "@thinkery/sdk";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import type { App } from "../sandbox/run.ts";
import type { SandboxRunOptions, Sandbox } from "../sandbox/sandbox.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { createAppFacts, packApp, unpackApp } from "../store/app-source.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { AgentFeature } from "./feature.ts";

/** Nobody waits longer for a page, however long a turn may wait for a sandbox. */
const maxWaitMs = 10_000;

interface AppOptions {
  address: AgentAddress;
  /** Whose sandbox processes it runs in. */
  sandboxKey: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  sandbox(): Sandbox;
}

/** The app of an agent: what it is, and its way into a sandbox. */
export class AppFeature implements AgentFeature {
  readonly #options: AppOptions;
  readonly #ending = new AbortController();
  /** The latest one that was asked for, so that not every request reads it from the blob store. */
  #loaded: App | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
  }

  read(): AppInfo {
    return this.#toInfo(this.#getStored());
  }

  async put(app: NewApp, by: string): Promise<AppInfo> {
    const { store, blobs, recorder } = this.#options;
    const facts = createAppFacts(app, await blobs.put(packApp(app)), by);
    // What is there already is not set anew: its isolate stays, and the log need not say it twice.
    if (store.facts.getApp()?.version !== facts.version) recorder.record({ type: "app.set", data: facts });
    return this.read();
  }

  remove(by: string): void {
    this.#getStored();
    this.#options.recorder.record({ type: "app.removed", data: { by } });
  }

  /** Has the app answer. What it answers is its own: nothing in it is to be trusted. */
  async fetch(request: Request): Promise<Response> {
    const stored = this.#getStored();
    const app = await this.#load(stored);
    const sandbox = this.#options.sandbox();
    const answer = await sandbox.serve(app, request, this.#createTerms(sandbox.limits)).catch((error: unknown) => {
      if (error instanceof ToolError) throw fail("unavailable", `The app did not answer. ${error.message}`);
      if (this.#ending.signal.aborted) throw fail("not_found", "There is no such agent.");
      throw error;
    });
    const headers = new Headers(answer.headers);
    headers.set("x-thinkery-app", stored.version);
    return new Response(answer.body, { status: answer.status, headers });
  }

  /** Ends what it is doing: the agent is about to be erased. */
  halt(): void {
    this.#ending.abort();
  }

  export(): { app?: AppInfo } {
    const stored = this.#options.store.facts.getApp();
    return stored ? { app: this.#toInfo(stored) } : {};
  }

  #toInfo(stored: StoredApp): AppInfo {
    const { blob: _, ...info } = stored;
    const { agency, path } = this.#options.address;
    return { ...info, address: formatAppAddress(agency, path[0]) };
  }

  #createTerms({ timeoutSeconds: seconds, queueTimeoutSeconds }: SandboxLimits): SandboxRunOptions {
    return {
      agent: this.#options.sandboxKey,
      timeoutMs: seconds * 1000,
      waitMs: Math.min(queueTimeoutSeconds * 1000, maxWaitMs),
      signal: this.#ending.signal,
      call: answerCall,
      onConsole() {},
      onPlace() {},
    };
  }

  #getStored(): StoredApp {
    const stored = this.#options.store.facts.getApp();
    if (!stored)
      throw fail(
        "not_found",
        "This agent has no app. Give it one with `thinkery app put`, or PUT its code to …/app as {“code”: “export default { fetch() { … } }”}.",
      );
    return stored;
  }

  async #load({ version, blob, updatedAt }: StoredApp): Promise<App> {
    // The time is that of whoever set it: an agent made anew under an old name finds nothing of the old one in memory.
    const id = `${formatAddress(this.#options.address)}.${version}.${Date.parse(updatedAt)}`;
    if (this.#loaded?.id === id) return this.#loaded;
    const content = await this.#options.blobs.get(blob);
    if (!content) throw fail("unavailable", "The app's code is not in the blob store any more. Put it again.");
    this.#loaded = { id, ...unpackApp(content) };
    return this.#loaded;
  }
}

/** What an app may call. Tools belong to turns: only there are they counted, asked about and logged. */
async function answerCall(capability: string, input: string): Promise<string> {
  if (capability === "echo") return input;
  if (capability.startsWith("tools."))
    throw new Error("An app's request has no turn, and tools can be called in a turn only.");
  throw new Error(`An app cannot use “${capability.slice(0, 100)}”: nothing but echo is open to it.`);
}
