// The baseline: the minimum that counts as a durable turn. It stores each message before calling the model, each tool
// call with its effect, and the outcome with its text. Deltas go to the client and to the log in batches of 20 ms.
import { DurableObject } from "cloudflare:workers";

interface Env {
  Lean: DurableObjectNamespace<Lean>;
  models: Fetcher;
}

interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

interface Message {
  role: "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
}

interface Delta {
  content?: string | null;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

const tools = [
  {
    type: "function",
    function: {
      name: "write_todos",
      description: "Replaces the list of todos.",
      parameters: {
        type: "object",
        properties: {
          todos: {
            type: "array",
            items: {
              type: "object",
              properties: { content: { type: "string" }, status: { type: "string" } },
              required: ["content", "status"],
            },
          },
        },
        required: ["todos"],
      },
    },
  },
];

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const agent = /^\/agent\/([^/]+)/.exec(new URL(request.url).pathname)?.[1];
    return agent ? env.Lean.getByName(agent).fetch(request) : new Response("alive");
  },
};

export class Lean extends DurableObject<Env> {
  #client: WebSocket | undefined;
  #batch = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    state.storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS message (seq INTEGER PRIMARY KEY, turn TEXT, body TEXT);
      CREATE TABLE IF NOT EXISTS turn (id TEXT PRIMARY KEY, status TEXT);
      CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, turn TEXT, type TEXT, data TEXT);
      CREATE TABLE IF NOT EXISTS ledger (call TEXT PRIMARY KEY, turn TEXT, tool TEXT, status TEXT);
      CREATE TABLE IF NOT EXISTS todo (position INTEGER PRIMARY KEY, content TEXT, status TEXT);`);
  }

  override fetch(request: Request): Response {
    const url = new URL(request.url);
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    server.accept();
    this.#client = server;
    const base = url.searchParams.get("base") ?? "";
    const model = url.searchParams.get("model") ?? "";
    server.addEventListener("message", ({ data }) => {
      const { type, id, content } = JSON.parse(String(data)) as { type: string; id: string; content: string };
      if (type === "chat") this.ctx.waitUntil(this.#runTurn(id, content, base, model));
    });
    return new Response(null, { status: 101, webSocket: client });
  }

  async #runTurn(id: string, content: string, base: string, model: string): Promise<void> {
    const { sql } = this.ctx.storage;
    const history = [...sql.exec<{ body: string }>("SELECT body FROM message ORDER BY seq")].map(
      ({ body }) => JSON.parse(body) as Message,
    );
    const store = (message: Message) => {
      history.push(message);
      sql.exec("INSERT INTO message (turn, body) VALUES (?, ?)", id, JSON.stringify(message));
    };
    sql.exec("INSERT INTO turn VALUES (?, 'running')", id);
    store({ role: "user", content });
    this.#send(id, "status", { status: "running" });
    for (;;) {
      const response = await this.#callModel(id, base, {
        model,
        stream: true,
        stream_options: { include_usage: true },
        messages: history,
        tools,
      });
      store(response);
      for (const call of response.tool_calls ?? []) {
        sql.exec("INSERT INTO ledger VALUES (?, ?, ?, 'started')", call.id, id, call.function.name);
        this.#send(id, "tool_call", { id: call.id, name: call.function.name, args: call.function.arguments });
        const result = this.#writeTodos(call.function.arguments);
        sql.exec("UPDATE ledger SET status = 'done' WHERE call = ?", call.id);
        store({ role: "tool", tool_call_id: call.id, content: result });
        this.#send(id, "tool_result", { id: call.id, result });
      }
      if (!response.tool_calls) break;
    }
    sql.exec("UPDATE turn SET status = 'completed' WHERE id = ?", id);
    this.#send(id, "message-complete", {});
    this.#send(id, "status", { status: "idle" });
  }

  /** Calls the model and parses its stream directly. */
  async #callModel(id: string, base: string, body: object): Promise<Message> {
    const response = await this.env.models.fetch(`${base}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    let text = "";
    const calls: ToolCall[] = [];
    const decoder = new TextDecoder();
    let rest = "";
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (rest + decoder.decode(piece.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const delta = (JSON.parse(line.slice(6)) as { choices: { delta: Delta }[] }).choices[0]?.delta;
        if (delta?.content) {
          text += delta.content;
          this.#addDelta(id, delta.content);
        }
        for (const part of delta?.tool_calls ?? []) {
          const call = (calls[part.index] ??= {
            id: part.id ?? "",
            type: "function",
            function: { name: part.function?.name ?? "", arguments: "" },
          });
          call.function.arguments += part.function?.arguments ?? "";
        }
      }
    }
    this.#flush(id);
    return { role: "assistant", content: text || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  }

  #addDelta(id: string, text: string): void {
    this.#batch += text;
    this.#timer ??= setTimeout(() => this.#flush(id), 20);
  }

  #flush(id: string): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#batch) this.#send(id, "text_delta", { delta: this.#batch });
    this.#batch = "";
  }

  #send(id: string, type: string, data: object): void {
    const { seq } = this.ctx.storage.sql
      .exec<{ seq: number }>(
        "INSERT INTO event (turn, type, data) VALUES (?, ?, ?) RETURNING seq",
        id,
        type,
        JSON.stringify(data),
      )
      .one();
    this.#client?.send(JSON.stringify({ type, seq, ...data }));
  }

  #writeTodos(input: string): string {
    const { todos } = JSON.parse(input) as { todos: { content: string; status: string }[] };
    const { sql } = this.ctx.storage;
    sql.exec("DELETE FROM todo");
    for (const { content, status } of todos)
      sql.exec("INSERT INTO todo (content, status) VALUES (?, ?)", content, status);
    return `${todos.length} todos`;
  }
}
