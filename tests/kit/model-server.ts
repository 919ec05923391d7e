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
export type { RecordedRequest } from "./model-server/request.ts";

export interface ModelServer {
  /** Without a path. OpenAI's formats and Anthropic's are under `/v1`, Google's under `/v1beta`. */
  url: string;
  /** Sets what to answer next: one or more answers in order, or a function of the request. */
  answer(answers: Answer | Answer[] | ((request: RecordedRequest) => Answer)): void;
  /**
   * Sets this model's context limit and has it report the tokens it counted. Longer conversations are rejected with
   * the error of the format's provider, whatever the next answer is.
   */
  setLimit(model: string, tokens: number): void;
  /** Requests rejected for their length. */
  listRefused(): RecordedRequest[];
  listRequests(): RecordedRequest[];
  countCalls(): number;
  /** Calls whose client disconnected before the end of the response. */
  countAbandoned(): number;
  /** Connections opened so far; fewer than calls if they are reused. */
  countConnections(): number;
  /** Continues all stalled responses. */
  release(): void;
  stop(): Promise<void>;
}

const formats: Record<FormatName, Format> = { chat, responses, messages, google };

/** A server that speaks the providers' real wire formats and can be told to fail in all of their ways. */
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
      const recorded = await recordRequest(request, path, name);
      requests.push(recorded);
      await sendAnswer(
        response,
        formats[name],
        applyLimit(recorded, () => next(recorded)),
        recorded.model,
        waitForRelease,
      );
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(JSON.stringify({ error: { message: `The model server failed: ${String(error)}`, code: "kit" } }));
    }
  });
  function applyLimit(request: RecordedRequest, getAnswer: () => Answer): Answer {
    const limit = limits.get(request.model);
    if (limit === undefined) return getAnswer();
    const input = countRequestTokens(request.body);
    if (input > limit) {
      refused.push(request);
      return { fault: createOverflowFault(request.format, input, limit) };
    }
    const answer = getAnswer();
    return { ...answer, usage: { input, output: countAnswerTokens(answer), ...answer.usage } };
  }

  // On a busy machine Node's default of 5 s can pass between two calls, and the second would find its connection
  // closed.
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
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Responds to `GET` with the models, as OpenAI and Anthropic, Ollama, and Google list them. */
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
  const list = lists[path];
  response
    .writeHead(list ? 200 : 404, { "content-type": "application/json" })
    .end(JSON.stringify(list ?? { error: "not found" }));
}

async function sendAnswer(
  response: http.ServerResponse,
  format: Format,
  answer: Answer,
  model: string,
  waitForRelease: () => Promise<void>,
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
  const faultIndex = fault ? findFaultIndex(fault.phase, frames) : Number.POSITIVE_INFINITY;
  if (faultIndex < 0 && fault?.kind === "cut") return void response.socket?.destroy();
  if (faultIndex < 0 && fault?.kind === "stall") await waitForRelease();
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  const writer = createFrameWriter(response, format, answer.chunkBytes);
  let delay = answer.delayMs ?? 0;
  for (const [index, frame] of frames.entries()) {
    if (fault && index === Math.max(faultIndex, 0)) {
      await writer.flush();
      if (fault.kind === "slow") delay = fault.ms;
      else if (fault.kind === "stall") await (faultIndex < 0 ? undefined : waitForRelease());
      else return breakOff(response, format, fault);
    }
    if (response.destroyed) return;
    await writer.send(frame);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  }
  await writer.flush();
  response.end();
}

/** The index of the frame before which the fault occurs; -1 means before the response starts. */
function findFaultIndex(phase: Phase, frames: Frame[]): number {
  const end = frames.findIndex(({ kind }) => kind === "close");
  if (phase === "before") return -1;
  if (phase === "first") return frames.findIndex(({ kind }) => kind !== "open");
  if (phase === "end") return end;
  const kinds = frames.map(({ kind }) => kind);
  const first = kinds.indexOf(phase);
  if (first < 0) return end;
  // In the middle: after one delta, or after a call's name and the first piece of its input.
  return Math.min(first + (phase === "tool" ? 2 : 1), kinds.lastIndexOf(phase) + 1);
}

async function breakOff(
  response: http.ServerResponse,
  format: Format,
  fault: Exclude<Fault, { kind: "status" }>,
): Promise<void> {
  if (fault.kind === "cut") {
    // Flush first, or the cut would overtake what was written.
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

/** Writes each frame by itself, or, with `chunkBytes`, the whole stream in chunks of that size. */
function createFrameWriter(response: http.ServerResponse, format: Format, chunkBytes?: number) {
  let pending = Buffer.alloc(0);
  const writeChunks = async (minBytes: number) => {
    while (pending.length >= minBytes) {
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
      await writeChunks(chunkBytes);
    },
    flush: () => writeChunks(1),
  };
}
