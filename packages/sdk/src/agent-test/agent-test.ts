import type { AgentWorker } from "../agent/agent.ts";
import type { AgentEvent, AgentState, JsonValue, Sender, ToolHandlerResult, WireModelRequest } from "../agent/wire.ts";
import { fillSettings, type SettingsSchema } from "../protocol/setting-values.ts";
import { dispatch } from "./dispatch.ts";
import { type LogLine, TestHost } from "./test-host.ts";
import type { TestAgentOptions } from "./test-options.ts";
import { TestTurn } from "./test-turn.ts";

export type { ModelResponder, ModelResponse } from "./test-models.ts";
export type { LogLine } from "./test-host.ts";
export type { TestAgentOptions, TestTools } from "./test-options.ts";
export type { TestTurn } from "./test-turn.ts";

export interface TestMessageOptions {
  sender?: Sender;
  attachments?: { name: string; mediaType: string; content: string | Uint8Array }[];
  /** Interrupts the handler. */
  signal?: AbortSignal;
}

/** An agent without a host: its conversation, state and files are in memory. */
export interface TestAgent {
  /** Sends a message and returns what the agent did. Throws if its handler does. */
  send(content: string, options?: TestMessageOptions): Promise<TestTurn>;
  /** Calls a tool that the agent provides. */
  callTool(name: string, args?: JsonValue, caller?: string): Promise<JsonValue | undefined>;
  init(): Promise<void>;
  shutdown(): Promise<void>;
  emit(event: AgentEvent): Promise<void>;
  readonly state: AgentState;
  readonly storage: ReadonlyMap<string, JsonValue>;
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** The requests to models so far. */
  readonly requests: readonly WireModelRequest[];
  readonly logs: readonly LogLine[];
}

const person: Sender = { id: "user", name: "User", type: "user" };

/** Runs an agent as a host does, in this process. */
export function createTestAgent(worker: AgentWorker, options: TestAgentOptions = {}): TestAgent {
  const host = new TestHost(options);
  let state: AgentState = { ...options.state };
  let isDescribed = false;
  let schema: SettingsSchema = {};

  async function createPayload(): Promise<object> {
    if (!isDescribed) {
      ({ settings: schema = {} } = (await dispatch(worker, "describe", {}, host.open())) as {
        settings?: SettingsSchema;
      });
      isDescribed = true;
    }
    return {
      agent: "test~agent",
      settings: fillSettings(schema, options.settings ?? {}),
      state,
      tools: host.listTools(),
      capabilities: host.capabilities,
    };
  }

  /** Saves what the handler changed, unless it throws. */
  async function handle(
    route: string,
    more: object,
    turn?: TestTurn,
    signal?: AbortSignal,
  ): Promise<ToolHandlerResult> {
    const request = host.open(turn);
    const payload = { ...(await createPayload()), ...more };
    const result = (await dispatch(worker, route, payload, request, signal)) as ToolHandlerResult;
    state = applyChanges(state, result);
    request.commit();
    return result;
  }

  return {
    async send(content, { sender = person, attachments = [], signal } = {}) {
      const turn = new TestTurn();
      const message = host.createMessage(content, sender, attachments);
      const conversation = host.listConversation();
      host.addToConversation("user", content, message.id);
      try {
        await handle("message", { message, messages: [message], conversation, hasEarlier: false }, turn, signal);
      } finally {
        for (const text of turn.messages) host.addToConversation("assistant", text);
      }
      return turn;
    },
    callTool: async (tool, input = {}, caller = "test~other") => (await handle("tool", { tool, input, caller })).output,
    async init() {
      await handle("init", {});
    },
    async shutdown() {
      await handle("shutdown", {});
    },
    async emit(event) {
      await handle("event", { event });
    },
    get state() {
      return state;
    },
    storage: host.storage,
    files: host.files,
    requests: host.models.requests,
    logs: host.logs,
  };
}

function applyChanges(state: AgentState, { state: { set, deleted } }: ToolHandlerResult): AgentState {
  const kept = Object.entries(state).filter(([key]) => !deleted.includes(key));
  return { ...Object.fromEntries(kept), ...set };
}
