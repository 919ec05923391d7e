import { fail } from "@thinkery/sdk";
import type { AgentEvent as CodeEvent, AgentRoute } from "@thinkery/sdk/agent-host";
import type { CodeScope } from "../drivers/isolate/code-scope.ts";
import { CodeSession } from "../drivers/isolate/code-session.ts";
import type { CodeVersion } from "../drivers/isolate/code-version.ts";
import { ConversationWindow } from "../drivers/isolate/conversation-window.ts";
import { createBasePayload } from "../drivers/isolate/payload.ts";
import { sendRequest } from "../drivers/isolate/send-request.ts";
import type { UserCode } from "../drivers/isolate/user-code.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { openBackgroundAccess } from "../turn/loop/background.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { AgentResolver } from "./agent-resolver.ts";
import type { RegisteredAgent } from "./registration.ts";

export interface CodeRequestsOptions {
  code: UserCode;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  resolver: AgentResolver;
  registered(): RegisteredAgent;
  /** Aborted when the agent is deleted. */
  signal: AbortSignal;
}

interface ToolRequest {
  tool: string;
  input: unknown;
  callers: readonly string[];
}

const maxToolRequests = 32;
/** A hook that takes longer is interrupted: messages wait for it. */
const hookTimeoutMs = 60_000;
const toolTimeoutMs = 600_000;

/** The requests to an agent's code that belong to no turn: hooks, events, and tools that other agents call. */
export class CodeRequests {
  readonly #options: CodeRequestsOptions;
  #toolRequests = 0;

  constructor(options: CodeRequestsOptions) {
    this.#options = options;
  }

  async runHook(hook: "init" | "shutdown", version: CodeVersion): Promise<void> {
    if (!version.description.handles[hook]) return;
    await this.#send(hook, version, {}, { timeoutMs: hookTimeoutMs, callers: [] });
  }

  async sendEvent(version: CodeVersion, event: CodeEvent): Promise<void> {
    await this.#send("event", version, { event }, { timeoutMs: hookTimeoutMs, callers: [] });
  }

  async callTool(version: CodeVersion, { tool, input, callers }: ToolRequest): Promise<unknown> {
    if (this.#toolRequests >= maxToolRequests)
      throw fail("unavailable", `The agent handles ${maxToolRequests} tool calls already. Try again later.`);
    this.#toolRequests++;
    try {
      const payload = { tool, input, caller: callers.at(-1) ?? "" };
      return await this.#send("tool", version, payload, { timeoutMs: toolTimeoutMs, callers });
    } finally {
      this.#toolRequests--;
    }
  }

  async #send(
    route: AgentRoute,
    version: CodeVersion,
    extra: object,
    { timeoutMs, callers }: { timeoutMs: number; callers: readonly string[] },
  ): Promise<unknown> {
    const { code, store, blobs, recorder, resolver, registered } = this.#options;
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new Error(`${route} did not finish within ${timeoutMs / 1000} s.`)),
      timeoutMs,
    );
    const signal = AbortSignal.any([this.#options.signal, timeout.signal]);
    const deps = await resolver.resolve(registered(), undefined, callers);
    const access = openBackgroundAccess({
      agent: code.agent,
      store,
      blobs,
      recorder,
      deps,
      signal,
      onActivity: () => {},
    });
    const scope: CodeScope = {
      signal,
      listTools: () => deps.tools.definitions(),
      streamModel: access.streamModel,
      callCapability: access.callCapability,
      isIdempotent: access.isIdempotent,
      noteActivity: access.noteActivity,
      executeTools: (calls) =>
        Promise.all(
          calls.map(async ({ name, input }) => {
            try {
              const json = await access.callCapability(`tools.${name}`, JSON.stringify(input));
              const output = JSON.parse(json) as never;
              return { content: typeof output === "string" ? output : json, output, isError: false };
            } catch (error) {
              return { content: error instanceof Error ? error.message : String(error), isError: true };
            }
          }),
        ),
    };
    const conversation = new ConversationWindow(store, (hash) => blobs.get(hash));
    const redact = (text: string) => code.redact(text);
    try {
      return await sendRequest(code, {
        route,
        version,
        payload: { ...createBasePayload(code, version, deps.tools.definitions()), ...extra },
        signal,
        isAwaited: callers.length > 0,
        open: () => new CodeSession({ version, scope, store: code.store, conversation, redact }),
        commit() {},
      });
    } finally {
      clearTimeout(timer);
      await access.close();
    }
  }
}
