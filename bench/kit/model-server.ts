// A model that responds instantly, as a separate program: `node model-server.ts` prints its port.
//   zero-D      first calls the todo tool, then sends D deltas of text
//   paced-R-S   sends R deltas per second for S seconds (default 30), each with the time it was sent
//   fan-MS      told to delegate, calls the task tool as often at once as its message says; as a sub-agent, responds
//               after MS milliseconds, with fan-MS-bash by running a command first
// GET /stats returns the calls and bytes since POST /reset.
import http from "node:http";
import { type ModelStats, readTeamSize } from "./model.ts";

interface Call {
  model: string;
  messages: { role: string; content?: unknown }[];
  tools?: { function: { name: string } }[];
}

const createStats = (): ModelStats => ({ calls: 0, bytes: 0, toolBytes: {}, arrivals: [], delegatedAt: 0 });
const getTime = () => performance.timeOrigin + performance.now();

let stats = createStats();

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const route = `${request.method} ${request.url}`;
    if (route === "POST /v1/chat/completions") return respond(body, response);
    if (route === "GET /v1/models")
      return sendJson(response, {
        object: "list",
        data: ["zero-8", "zero-200", "paced-100"].map((id) => ({ id, object: "model" })),
      });
    if (route === "GET /stats") return sendJson(response, stats);
    if (route === "POST /reset") return sendJson(response, (stats = createStats()));
    sendJson(response, { error: { message: `unknown route ${route}` } }, 404);
  });
});
// Subjects may keep connections open between rounds.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));

function respond(body: Buffer, response: http.ServerResponse): void {
  const call = JSON.parse(body.toString("utf8")) as Call;
  stats.calls++;
  stats.bytes += body.length;
  stats.arrivals.push(getTime());
  for (const tool of call.tools ?? [])
    stats.toolBytes[tool.function.name] = (stats.toolBytes[tool.function.name] ?? 0) + JSON.stringify(tool).length + 1;
  const [kind, rate = "8", seconds = "30"] = call.model.replace(/^.*[:/]/, "").split("-");
  const stream = new Stream(call.model, response);
  const tool = call.tools?.map((tool) => tool.function.name).find((name) => /todo/i.test(name) && /write/i.test(name));
  if (kind === "fan") respondAsTeam(call, stream);
  else if (kind === "paced") stream.sendPaced(Number(rate), Number(seconds));
  else if (tool && call.messages.at(-1)?.role !== "tool") stream.sendCall(tool);
  else stream.sendText(Number(rate));
}

function respondAsTeam({ model, messages, tools }: Call, stream: Stream): void {
  const [, ms = "0", tool] = model.replace(/^.*[:/]/, "").split("-");
  const isFirst = messages.at(-1)?.role !== "tool";
  const count = messages.reduce(
    (found, { role, content }) => (role === "user" ? readTeamSize(toText(content)) : 0) || found,
    0,
  );
  const isParent = count > 0;
  if (isParent && isFirst) {
    const task = { name: "task", input: { description: "Say one word.", subagent_type: "general-purpose" } };
    stream.sendCalls(Array.from({ length: count }, () => task));
    stats.delegatedAt = getTime();
  } else if (isParent) {
    stream.sendText(1);
  } else {
    const canCall = tool !== undefined && isFirst && tools?.some((offered) => offered.function.name === tool);
    setTimeout(
      () =>
        canCall
          ? stream.sendCalls([{ name: tool, input: { command: "echo hello > /tmp/x; cat /tmp/x" } }])
          : stream.sendText(1),
      Number(ms),
    );
  }
}

const toText = (content: unknown) => (typeof content === "string" ? content : JSON.stringify(content ?? ""));

class Stream {
  /** Unique, because peers use it as the id of the message. */
  #id = `chatcmpl-${crypto.randomUUID()}`;
  #model: string;
  #response: http.ServerResponse;

  constructor(model: string, response: http.ServerResponse) {
    this.#model = model;
    this.#response = response;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  }

  sendCall(name: string): void {
    const todo = { content: "x", status: "pending", ...(name === "todowrite" ? { id: "1", priority: "low" } : {}) };
    this.sendCalls([{ name, input: { todos: [todo] } }]);
  }

  sendCalls(calls: { name: string; input: object }[]): void {
    for (const [index, { name, input }] of calls.entries()) {
      const text = JSON.stringify(input);
      const half = Math.floor(text.length / 2);
      const id = `call_${crypto.randomUUID().replaceAll("-", "")}`;
      const first = { index, id, type: "function", function: { name, arguments: text.slice(0, half) } };
      this.#sendChunk({ role: "assistant", content: null, tool_calls: [first] });
      this.#sendChunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] });
    }
    this.#end("tool_calls", 12);
  }

  /** Sends each delta in its own write, as tokens arrive, without delays. */
  sendText(count: number, sent = 0): void {
    if (sent === count) return this.#end("stop", count);
    this.#sendChunk({ ...(sent ? {} : { role: "assistant" }), content: `word${sent} ` });
    setImmediate(() => this.sendText(count, sent + 1));
  }

  sendPaced(rate: number, seconds: number): void {
    const count = rate * seconds;
    const startedAt = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1000) * rate));
      for (; sent < due; sent++)
        this.#sendChunk({ content: `@${(performance.timeOrigin + performance.now()).toFixed(1)} ` });
      if (sent < count && !this.#response.destroyed) return;
      clearInterval(timer);
      this.#end("stop", count);
    }, 1000 / rate);
  }

  #sendChunk(delta: object, finish: string | null = null): void {
    this.#sendData({ choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  #end(finish: string, tokens: number): void {
    this.#sendChunk({}, finish);
    this.#sendData({
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: tokens, total_tokens: 100 + tokens },
    });
    this.#response.end("data: [DONE]\n\n");
  }

  #sendData(piece: object): void {
    const chunk = {
      id: this.#id,
      object: "chat.completion.chunk",
      created: 1_760_000_000,
      model: this.#model,
      ...piece,
    };
    this.#response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

function sendJson(response: http.ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
