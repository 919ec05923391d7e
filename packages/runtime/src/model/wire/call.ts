import { ModelError } from "../error.ts";
import type { ModelPart } from "../model.ts";
import { BodyReader } from "./body.ts";
import { complaintIn, complaintOf } from "./complaint.ts";
import { type Complaint, failure, networkFailure, redirected } from "./fail.ts";
import { Parts } from "./parts.ts";
import { Patience } from "./patience.ts";
import { EventParser } from "./sse.ts";

export interface WireOptions {
  /** `provider:model`, as people write it. */
  id: string;
  /** The model's name as the provider knows it. */
  model: string;
  /** The address up to and with its version, such as `https://api.openai.com/v1`. */
  base: string;
  key?: string;
  /** The environment variable that holds the key; errors name it. */
  keyName?: string;
  fetch: typeof fetch;
  headers?: Record<string, string>;
  /** Longest silence of the provider. Local models may need long to load. */
  idleMs?: number;
  /** Further fields of the request body; they win over ours. */
  extra?: Record<string, unknown>;
}

/** One format's reading of one answer. */
export interface Answer {
  /** One event, parsed. Adds to the parts and finishes them at the format's own end marker, or answers a complaint. */
  take(event: never, parts: Parts): Complaint | undefined;
  /** The body ended, or `[DONE]` marked its end: finishes the parts where that counts as an end. */
  end(parts: Parts, marked: boolean): void;
  /** The whole answer at once, from a server that does not stream. */
  whole(body: never, parts: Parts): Complaint | undefined;
}

interface Question {
  path: string;
  headers: Record<string, string>;
  body: object;
  /** Asked once after a refusal: the same question in a form that this server may take. */
  amend?(complaint: Complaint): object | undefined;
}

const idleDefault = 120_000;
const maxBodyBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/** One call over HTTP: the question goes out, the parts of the answer come back as they arrive. */
export async function* call(options: WireOptions, question: Question, answer: Answer, signal: AbortSignal): AsyncGenerator<ModelPart[]> {
  signal.throwIfAborted();
  const patience = new Patience(options.idleMs ?? idleDefault, signal);
  let reader: BodyReader | undefined;
  const parts = new Parts();
  try {
    patience.begin();
    const response = await ask(options, question, patience.stop.signal);
    patience.pause();
    if (!response.body) throw networkFailure(options, "answered without a body.");
    reader = new BodyReader(response.body);
    if (!response.ok) {
      const body = await text(reader, patience, maxErrorBytes).catch(() => "");
      const complaint = complaintOf(response.status, response.headers, body, Date.now());
      const amended = question.amend?.(complaint);
      if (!amended) throw failure(options, complaint);
      yield* call(options, { path: question.path, headers: question.headers, body: amended }, answer, signal);
      return;
    }
    const kind = response.headers.get("content-type") ?? "";
    if (kind.includes("text/html")) {
      throw failure(options, { status: response.status, message: "it sent a web page. Is the address right?" });
    }
    if (kind.includes("json")) {
      const body = await text(reader, patience, maxBodyBytes);
      digest(options, () => answer.whole(understood(options, body), parts));
      if (!parts.finished) throw networkFailure(options, "sent an answer without an end.");
      yield parts.take();
      return;
    }
    const events = new EventParser();
    while (!parts.finished) {
      patience.begin();
      const bytes = await reader.read();
      patience.pause();
      digest(options, () => {
        for (const payload of bytes ? events.push(bytes) : events.end()) {
          const complaint = payload === "[DONE]" ? answer.end(parts, true) : answer.take(understood(options, payload), parts);
          if (complaint) return complaint;
          if (parts.finished) return;
        }
        if (!bytes) answer.end(parts, false);
      });
      if (!bytes && !parts.finished) throw networkFailure(options, "broke off in the middle of its answer.");
      const arrived = parts.take();
      if (arrived.length > 0) yield arrived;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explain(options, error, patience);
  } finally {
    if (parts.finished && reader) void drain(reader, patience);
    else {
      patience.end();
      void reader?.cancel().catch(() => {});
      patience.stop.abort();
    }
  }
}

async function ask(options: WireOptions, { path, headers, body }: Question, signal: AbortSignal): Promise<Response> {
  // The platform's own complaint about a header would show its value.
  if (options.key && /[^\x21-\x7e]/.test(options.key)) {
    throw failure(options, { type: "invalid_api_key", message: "it contains blanks or characters that no key has." });
  }
  const response = await options.fetch(address(options.base, path), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...headers, ...options.headers },
    body: JSON.stringify({ ...body, ...options.extra }),
    redirect: "manual",
    signal,
  });
  if (response.status >= 300 && response.status < 400) {
    void response.body?.cancel().catch(() => {});
    throw redirected(options, response.status);
  }
  return response;
}

/** A base may end in a slash and may carry a query of its own. */
function address(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

/** Whatever a server invents, it ends as a failure of a kind we know. */
function digest(options: WireOptions, read: () => Complaint | undefined | void): void {
  let complaint: Complaint | undefined | void;
  try {
    complaint = read();
  } catch (error) {
    throw error instanceof ModelError ? error : networkFailure(options, "sent something that is not its format.");
  }
  if (complaint) throw failure(options, { ...complaint, midway: true });
}

function understood(options: WireOptions, payload: string): never {
  let event: unknown;
  try {
    event = JSON.parse(payload);
  } catch {
    throw networkFailure(options, "sent something that is not JSON.");
  }
  const complaint = complaintIn(event);
  if (complaint) throw failure(options, { ...complaint, midway: true });
  return event as never;
}

async function text(reader: BodyReader, patience: Patience, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let whole = "";
  for (;;) {
    patience.begin();
    const bytes = await reader.read();
    patience.pause();
    if (!bytes) return whole + decoder.decode();
    whole += decoder.decode(bytes, { stream: true });
    if (whole.length > most) return whole.slice(0, most);
  }
}

function explain(options: WireOptions, error: unknown, patience: Patience): ModelError {
  if (error instanceof ModelError) return error;
  if (patience.exhausted) return networkFailure(options, `was silent for ${Math.round((options.idleMs ?? idleDefault) / 1000)} seconds.`);
  return networkFailure(options, `could not be reached or broke off: ${error instanceof Error ? error.message : String(error)}`);
}

/** What little follows the end is read, so that the connection can serve the next call; its silence has the same limit. */
async function drain(reader: BodyReader, patience: Patience): Promise<void> {
  patience.begin();
  try {
    while (await reader.read());
  } catch {
    // Whoever breaks off now has nothing left to say.
  } finally {
    patience.end();
  }
}
