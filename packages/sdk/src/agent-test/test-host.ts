import { decodeBase64, encodeBase64 } from "../agent/base64.ts";
import type { Data } from "../agent/definition.ts";
import { describeTools } from "../agent/tool-parameters.ts";
import type {
  AgentHost,
  HostCalls,
  JsonValue,
  Sender,
  WireConversationMessage,
  WireMessage,
  WireTool,
  WireToolResult,
} from "../agent/wire.ts";
import type { LogLevel } from "../protocol/choices.ts";
import { TestModels } from "./test-models.ts";
import type { TestAgentOptions } from "./test-options.ts";
import type { TestTurn } from "./test-turn.ts";

export interface LogLine {
  level: LogLevel;
  text: string;
}

type Handlers = {
  [N in keyof HostCalls]: (
    input: HostCalls[N]["input"],
    request: TestRequest,
  ) => HostCalls[N]["output"] | Promise<HostCalls[N]["output"]>;
} & Record<string, (input: Data, request: TestRequest) => unknown>;

/** The host of one request. Changes to storage are kept apart until it succeeds. */
interface TestRequest extends AgentHost {
  readonly turn: TestTurn | undefined;
  readonly stored: Map<string, JsonValue | undefined>;
  commit(): void;
}

const everything = ["ai", "tools", "fs", "bash", "fetch", "channel"];

/** A host in memory. */
export class TestHost {
  readonly models: TestModels;
  readonly logs: LogLine[] = [];
  readonly storage = new Map<string, JsonValue>();
  readonly files: Map<string, string | Uint8Array>;
  readonly capabilities: readonly string[];
  readonly #options: TestAgentOptions;
  readonly #attachments = new Map<string, Uint8Array>();
  readonly #conversation: WireConversationMessage[] = [];
  #messages = 0;

  constructor(options: TestAgentOptions) {
    this.#options = options;
    this.models = new TestModels(options.models);
    this.files = new Map(Object.entries(options.files ?? {}));
    this.capabilities = options.capabilities ?? everything;
  }

  listTools(): WireTool[] {
    const { tools = {} } = this.#options;
    return describeTools({
      tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, { description: name, ...tool }])),
    });
  }

  listConversation(): WireConversationMessage[] {
    return [...this.#conversation];
  }

  addToConversation(role: "user" | "assistant", content: string, id = this.#nextId()): void {
    this.#conversation.push({ id, role, content, timestamp: new Date(0).toISOString() });
  }

  createMessage(
    content: string,
    sender: Sender,
    attachments: readonly { name: string; mediaType: string; content: string | Uint8Array }[],
  ): WireMessage {
    return {
      id: this.#nextId(),
      content,
      sender,
      timestamp: new Date(0).toISOString(),
      attachments: attachments.map(({ name, mediaType, content: given }, index) => {
        const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given;
        const id = `attachment-${this.#messages}-${index}`;
        this.#attachments.set(id, bytes);
        return { id, name, mediaType, size: bytes.length };
      }),
    };
  }

  /** Opens the host for one request. */
  open(turn?: TestTurn): TestRequest {
    const stored = new Map<string, JsonValue | undefined>();
    const request: TestRequest = {
      turn,
      stored,
      call: async (name, input) => {
        const handler = Object.hasOwn(this.#handlers, name) ? this.#handlers[name] : undefined;
        if (!handler) throw new Error(`There is no host call “${name}”.`);
        this.#checkGranted(name);
        const output: unknown = await handler(JSON.parse(input), request);
        return output === undefined ? "" : JSON.stringify(output);
      },
      commit: () => {
        for (const [key, value] of stored) {
          if (value === undefined) this.storage.delete(key);
          else this.storage.set(key, value);
        }
      },
    };
    return request;
  }

  readonly #handlers: Handlers = {
    reply: ({ operations }, { turn }) => {
      for (const operation of operations) requireTurn(turn).apply(operation);
    },
    "model.open": (request) => this.models.open(request),
    "model.read": ({ id }) => this.models.read(id),
    "model.close": ({ id }) => this.models.close(id),
    "tools.execute": async ({ calls }) => ({
      results: await Promise.all(calls.map(({ name, input }) => this.#callTool(name, input))),
    }),
    "history.read": ({ before, limit = 50 }) => {
      const index = this.#conversation.findIndex(({ id }) => id === before);
      const earlier = this.#conversation.slice(0, index === -1 ? this.#conversation.length : index);
      return { messages: earlier.slice(-limit), hasEarlier: earlier.length > limit };
    },
    "attachment.read": ({ id }) => {
      const bytes = this.#attachments.get(id);
      if (!bytes) throw new Error(`There is no attachment “${id}”.`);
      return { base64: encodeBase64(bytes) };
    },
    "storage.get": ({ key }, { stored }) => {
      const value = stored.has(key) ? stored.get(key) : this.storage.get(key);
      return value === undefined ? {} : { value };
    },
    "storage.set": ({ key, value }, { stored }) => void stored.set(key, value),
    "storage.delete": ({ key }, { stored }) => {
      const existed = stored.has(key) ? stored.get(key) !== undefined : this.storage.has(key);
      stored.set(key, undefined);
      return { existed };
    },
    "storage.list": ({ prefix = "", after = "", limit = 100 }, { stored }) => {
      const values = [...new Map([...this.storage, ...stored])].filter(
        ([key, value]) => value !== undefined && key.startsWith(prefix) && key > after,
      );
      const sorted = values.toSorted(([a], [b]) => (a < b ? -1 : 1));
      const entries = sorted.slice(0, limit).map(([key, value]) => ({ key, chars: JSON.stringify(value).length }));
      const last = entries.at(-1);
      return { entries, ...(sorted.length > limit && last ? { next: last.key } : {}) };
    },
    "channel.send": ({ content }, { turn }) => {
      const id = `channel-${this.#messages++}`;
      requireTurn(turn).append(id, content);
      return { id };
    },
    "channel.update": ({ id, text }, { turn }) => {
      const former = requireTurn(turn).getText(id);
      if (former === undefined) throw new Error(`There is no open message “${id}”.`);
      if (!text.startsWith(former)) throw new Error("The text of a message can only be continued.");
      requireTurn(turn).append(id, text.slice(former.length));
    },
    "channel.complete": ({ id }, { turn }) => requireTurn(turn).end(id),
    "channel.callTool": ({ name, input }) => this.#callTool(name, input),
    log: (line) => void this.logs.push(line),
    "fs.readFile": ({ path, only }: { path: string; only?: "info" }) => this.#readFile(path, only === "info"),
    "fs.writeFile": ({ path, content }: { path: string; content: { text?: string; base64?: string } }) => {
      this.files.set(path, content.base64 === undefined ? (content.text ?? "") : decodeBase64(content.base64));
    },
    "fs.listFiles": ({ path }: { path?: string }) =>
      [...this.files]
        .filter(([name]) => !path || name === path || name.startsWith(`${path}/`))
        .map(([name, content]) => ({ path: name, size: content.length, kind: toKind(content) })),
    "fs.deleteFile": ({ path }: { path: string }) => {
      if (!this.files.delete(path)) throw new Error(`There is no file ${path}.`);
    },
    "fs.moveFile": ({ from, to }: { from: string; to: string }) => {
      const content = this.files.get(from);
      if (content === undefined) throw new Error(`There is no file ${from}.`);
      this.files.delete(from);
      this.files.set(to, content);
    },
    bash: async ({ command }: { command: string }) => {
      if (!this.#options.bash) throw new Error("The agent runs a command: pass `bash` to createTestAgent.");
      return { exitCode: 0, stdout: "", stderr: "", notes: [], ...(await this.#options.bash(command)) };
    },
    fetch: (input: FetchInput) => this.#fetch(input),
  };

  async #callTool(name: string, input: JsonValue): Promise<WireToolResult> {
    const { tools = {} } = this.#options;
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    try {
      if (!tool) throw new Error(`There is no tool “${name}”.`);
      const output = ((await tool.execute(input)) ?? null) as JsonValue;
      return { content: typeof output === "string" ? output : JSON.stringify(output), output, isError: false };
    } catch (error) {
      return { content: error instanceof Error ? error.message : String(error), isError: true };
    }
  }

  #readFile(path: string, isInfo: boolean): unknown {
    const content = this.files.get(path);
    if (isInfo) return content === undefined ? null : { path, kind: toKind(content), size: content.length };
    if (content === undefined) throw new Error(`There is no file ${path}.`);
    return typeof content === "string" ? { text: content } : { base64: encodeBase64(content) };
  }

  async #fetch({ url, method, headers, body, bodyBase64 }: FetchInput): Promise<unknown> {
    if (!this.#options.fetch) throw new Error("The agent makes a request: pass `fetch` to createTestAgent.");
    const content = bodyBase64 === undefined ? body : decodeBase64(bodyBase64);
    const response = await this.#options.fetch(
      new Request(url, { method, headers, ...(content === undefined ? {} : { body: content as BodyInit }) }),
    );
    return {
      status: response.status,
      headers: [...response.headers],
      bodyBase64: encodeBase64(new Uint8Array(await response.arrayBuffer())),
    };
  }

  #checkGranted(name: string): void {
    const prefix = name.split(".")[0] as string;
    const capability = prefix === "model" ? "ai" : prefix;
    if (everything.includes(capability) && !this.capabilities.includes(capability))
      throw new Error(
        `The agent was not granted “${capability}”. Add it to \`thinkery.capabilities\` in package.json.`,
      );
  }

  #nextId(): string {
    return `message-${this.#messages++}`;
  }
}

interface FetchInput {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  bodyBase64?: string;
}

const toKind = (content: string | Uint8Array): string => (typeof content === "string" ? "text" : "binary");

function requireTurn(turn: TestTurn | undefined): TestTurn {
  if (!turn) throw new Error("There is no conversation here: only onMessage can reply.");
  return turn;
}
