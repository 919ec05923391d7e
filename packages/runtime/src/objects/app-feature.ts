import {
  type AgentAddress,
  formatAppAddress,
  parseAgencyKey,
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

/** A page request waits at most this long for a sandbox, however long a turn may wait. */
const maxWaitMs = 10_000;

interface AppOptions {
  address: AgentAddress;
  /** Selects the sandbox processes it runs in. */
  sandboxKey: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  sandbox(): Sandbox;
}

/** Stores an agent's app and runs it in a sandbox. */
export class AppFeature implements AgentFeature {
  readonly #options: AppOptions;
  readonly #ending = new AbortController();
  /** The app last served, so that not every request reads the blob store. */
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
    // An unchanged app is not recorded again, so its isolate stays.
    if (store.facts.getApp()?.version !== facts.version) recorder.record({ type: "app.set", data: facts });
    return this.read();
  }

  remove(by: string): void {
    this.#getStored();
    this.#options.recorder.record({ type: "app.removed", data: { by } });
  }

  /** Forwards a request to the app. The response is untrusted. */
  async fetch(request: Request): Promise<Response> {
    const stored = this.#getStored();
    const app = await this.#load(stored);
    const sandbox = this.#options.sandbox();
    const response = await sandbox
      .serve(app, request, this.#createRunOptions(sandbox.limits))
      .catch((error: unknown) => {
        if (error instanceof ToolError) throw fail("unavailable", `The app did not respond. ${error.message}`);
        if (this.#ending.signal.aborted) throw fail("not_found", "Agent not found.");
        throw error;
      });
    const headers = new Headers(response.headers);
    headers.set("x-thinkery-app", stored.version);
    return new Response(response.body, { status: response.status, headers });
  }

  /** Aborts running requests, because the agent is about to be erased. */
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
    return { ...info, address: formatAppAddress(parseAgencyKey(agency).id, path[0]) };
  }

  #createRunOptions({ timeoutSeconds, queueTimeoutSeconds }: SandboxLimits): SandboxRunOptions {
    return {
      agent: this.#options.sandboxKey,
      timeoutMs: timeoutSeconds * 1000,
      waitMs: Math.min(queueTimeoutSeconds * 1000, maxWaitMs),
      signal: this.#ending.signal,
      call: handleCall,
      onConsole() {},
      onPlace() {},
    };
  }

  #getStored(): StoredApp {
    const stored = this.#options.store.facts.getApp();
    if (!stored)
      throw fail(
        "not_found",
        "This agent has no app. Create one with `thinkery app put`, or PUT {“code”: “export default { fetch() { … } }”} to …/app.",
      );
    return stored;
  }

  async #load({ version, blob, updatedAt }: StoredApp): Promise<App> {
    // Includes the time, so that a new agent with an old name does not reuse the old one's isolate.
    const id = `${formatAddress(this.#options.address)}.${version}.${Date.parse(updatedAt)}`;
    if (this.#loaded?.id === id) return this.#loaded;
    const content = await this.#options.blobs.get(blob);
    if (!content) throw fail("unavailable", "The app's code is missing from the blob store. Put it again.");
    this.#loaded = { id, ...unpackApp(content) };
    return this.#loaded;
  }
}

/** Handles calls from an app. Tools are only available in turns, where calls are counted, checked and logged. */
async function handleCall(capability: string, input: string): Promise<string> {
  if (capability === "echo") return input;
  if (capability.startsWith("tools.")) throw new Error("Apps cannot call tools, because tool calls need a turn.");
  throw new Error(`Apps cannot use “${capability.slice(0, 100)}”. Only echo is available.`);
}
