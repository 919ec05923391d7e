import http from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Answer,
  type Fault,
  type Format,
  type Frame,
  type Phase,
  normalizeAnswer,
} from "./model-server/answer.ts";
import { chat } from "./model-server/chat.ts";
import { google } from "./model-server/google.ts";
import { createOverflowFault, countRequestTokens, countAnswerTokens } from "./model-server/limit.ts";
import { messages } from "./model-server/messages.ts";
import { detectFormat, type FormatName, type RecordedRequest, recordRequest } from "./model-server/request.ts";
import { responses } from "./model-server/responses.ts";

export type { Answer, Phase } from "./model-server/answer.ts";
export type { RecordedRequest as SeenRequest } from "./model-server/request.ts";

export interface ModelServer {
  /** Without a path. OpenAI's formats and Anthropic's are under `/v1`, Google's under `/v1beta`. */
  url: string;
  /** What comes next: one answer after the other, or whatever the function says to each request. */
  answer(answers: Answer | Answer[] | ((request: RecordedRequest) => Answer)): void;
  /**
   * From now on this model reads so many tokens at once, and says what it counted. Longer conversations are refused
   * as its format's provider refuses them, whatever the answer would have been.
   */
  setLimit(model: string, tokens: number): void;
  /** Requests that were refused for their length. */
  listRefused(): RecordedRequest[];
  listRequests(): RecordedRequest[];
  countCalls(): number;
  /** Calls whose client went away before the answer was over. */
  countAbandoned(): number;
  /** Connections that were opened, to see that they serve more than one call. */
  countConnections(): number;
  /** Ends every silence. */
  release(): void;
  stop(): Promise<void>;
}

const formats: Record<FormatName, Format> = { chat, responses, messages, google };

/** A server that speaks the providers' real wire formats, and fails in all their ways when it is told to. */
export async function openModelServer({ models = ["test-model"], port = 0 } = {}): Promise<ModelServer> {
  let next: (request: RecordedRequest) => Answer = () => ({ text: "Hello." });
  let waiting: (() => void)[] = [];
  let abandoned = 0;
  let connections = 0;
  const requests: RecordedRequest[] = [];
  const refused: RecordedRequest[] = [];
  const limits = new Map<string, number>();
  const waitForRelease = () => new Promise<void>((resolve) => waiting.push(resolve));

  const server = http.createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://model").pathname;
    const name = detectFormat(path);
    if (request.method !== "POST" || !name) return sendModelList(path, models, response);
    response.on("close", () => {
      if (!response.writableFinished) abandoned += 1;
    });
    try {
      const question = await recordRequest(request, path, name);
      requests.push(question);
      await sendAnswer(
        response,
        formats[name],
        applyLimit(question, () => next(question)),
        question.model,
        waitForRelease,
      );
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(JSON.stringify({ error: { message: `The model server failed: ${String(error)}`, code: "kit" } }));
    }
  });
  function applyLimit(question: RecordedRequest, answer: () => Answer): Answer {
    const limit = limits.get(question.model);
    if (limit === undefined) return answer();
    const input = countRequestTokens(question.body);
    if (input > limit) {
      refused.push(question);
      return { fault: createOverflowFault(question.format, input, limit) };
    }
    const said = answer();
    return { ...said, usage: { input, output: countAnswerTokens(said), ...said.usage } };
  }

  // On a busy machine Node's five seconds pass between two calls, and the second would find its connection closed.
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => {
    connections += 1;
    socket.setNoDelay(true);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer(answers) {
      if (typeof answers === "function") next = answers;
      else {
        const queue = [answers].flat();
        next = () =>
          queue.shift() ?? {
            fault: {
              kind: "status",
              status: 400,
              code: "no_answer_left",
              message: "The test has no answer left for this call.",
            },
          };
      }
    },
    setLimit: (model, tokens) => void limits.set(model, tokens),
    listRefused: () => refused,
    listRequests: () => requests,
    countCalls: () => requests.length,
    countAbandoned: () => abandoned,
    countConnections: () => connections,
    release() {
      for (const go of waiting) go();
      waiting = [];
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What `GET` finds: the models, as OpenAI and Anthropic, Ollama, and Google list them. */
function sendModelList(path: string, models: string[], response: http.ServerResponse): void {
  const lists: Record<string, object> = {
    "/v1/models": {
      object: "list",
      data: models.map((id) => ({ id, object: "model", type: "model", display_name: id })),
    },
    "/api/tags": { models: models.map((name) => ({ name, model: name })) },
    "/v1beta/models": {
      models: models.map((name) => ({ name: `models/${name}`, supportedGenerationMethods: ["generateContent"] })),
    },
  };
  const found = lists[path];
  response
    .writeHead(found ? 200 : 404, { "content-type": "application/json" })
    .end(JSON.stringify(found ?? { error: "not found" }));
}

async function sendAnswer(
  response: http.ServerResponse,
  format: Format,
  answer: Answer,
  model: string,
  silence: () => Promise<void>,
): Promise<void> {
  const { fault } = answer;
  if (fault?.kind === "status") return sendFault(response, format, fault);
  if (answer.whole) {
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(format.whole(normalizeAnswer(answer), model)));
    return;
  }
  const frames = format.frames(normalizeAnswer(answer), model);
  const bad = fault ? findFaultIndex(fault.phase, frames) : Number.POSITIVE_INFINITY;
  if (bad < 0 && fault?.kind === "cut") return void response.socket?.destroy();
  if (bad < 0 && fault?.kind === "stall") await silence();
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  const out = createFrameWriter(response, format, answer.chunkBytes);
  let delay = answer.delayMs ?? 0;
  for (const [index, frame] of frames.entries()) {
    if (fault && index === Math.max(bad, 0)) {
      await out.flush();
      if (fault.kind === "slow") delay = fault.ms;
      else if (fault.kind === "stall") await (bad < 0 ? undefined : silence());
      else return breakOff(response, format, fault);
    }
    if (response.destroyed) return;
    await out.send(frame);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  }
  await out.flush();
  response.end();
}

/** The frame in front of which it happens; below zero before everything. */
function findFaultIndex(phase: Phase, frames: Frame[]): number {
  const end = frames.findIndex(({ kind }) => kind === "close");
  if (phase === "before") return -1;
  if (phase === "first") return frames.findIndex(({ kind }) => kind !== "open");
  if (phase === "end") return end;
  const kinds = frames.map(({ kind }) => kind);
  const first = kinds.indexOf(phase);
  if (first < 0) return end;
  // In the middle: a delta has been sent, and of a call its name and a piece of its input.
  return Math.min(first + (phase === "tool" ? 2 : 1), kinds.lastIndexOf(phase) + 1);
}

async function breakOff(
  response: http.ServerResponse,
  format: Format,
  fault: Exclude<Fault, { kind: "status" }>,
): Promise<void> {
  if (fault.kind === "cut") {
    // What was written has to leave first, or the cut would come before it.
    await new Promise((resolve) => response.write(": cutting\n", resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
    response.socket?.destroy();
    return;
  }
  if (fault.kind === "malformed") response.write('data: {"choices": [{"delta": {"cont\n\n');
  if (fault.kind === "error-event") {
    await createFrameWriter(response, format).send({
      kind: "close",
      data: format.errorEvent(fault.code, fault.message ?? "Something went wrong here."),
    });
  }
  response.end();
}

function sendFault(response: http.ServerResponse, format: Format, fault: Extract<Fault, { kind: "status" }>): void {
  const { status, code, type, message = "The provider says no.", retryAfter, location, body } = fault;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  if (location) headers.location = location;
  response.writeHead(status, headers).end(body ?? JSON.stringify(format.failure(status, code, type, message)));
}

/** Writes a frame as it comes, or all frames as one run of bytes that is cut into chunks of one size. */
function createFrameWriter(response: http.ServerResponse, format: Format, chunkBytes?: number) {
  let pending = Buffer.alloc(0);
  const cut = async (least: number) => {
    while (pending.length >= least) {
      const chunk = pending.subarray(0, chunkBytes);
      pending = pending.subarray(chunk.length);
      await new Promise((resolve) => response.write(chunk, resolve));
    }
  };
  return {
    async send({ data }: Frame): Promise<void> {
      const payload = data === "[DONE]" ? data : JSON.stringify(data);
      const name = format.named ? `event: ${(data as { type: string }).type}\n` : "";
      const bytes = Buffer.from(`${name}data: ${payload}\n\n`);
      if (!chunkBytes) return void response.write(bytes);
      pending = Buffer.concat([pending, bytes]);
      await cut(chunkBytes);
    },
    flush: () => cut(1),
  };
}
