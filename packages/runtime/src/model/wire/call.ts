import { ModelError } from "../error.ts";
import type { ModelPart } from "../model.ts";
import { BodyReader } from "./body.ts";
import { type ProviderError, createModelError, createNetworkError, createRedirectError } from "./create-model-error.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { PartCollector } from "./parts.ts";
import { parseProviderError, parseErrorResponse } from "./provider-error.ts";
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
export interface ResponseParser {
  /** One event, parsed. Adds to the parts and finishes them at the format's own end marker, or answers a complaint. */
  take(event: never, parts: PartCollector): ProviderError | undefined;
  /** The body ended, or `[DONE]` marked its end: finishes the parts where that counts as an end. */
  end(parts: PartCollector, marked: boolean): void;
  /** The whole answer at once, from a server that does not stream. */
  takeWhole(body: never, parts: PartCollector): ProviderError | undefined;
}

interface WireRequest {
  path: string;
  headers: Record<string, string>;
  body: object;
  /** Asked once after a refusal: the same question in a form that this server may take. */
  amend?(complaint: ProviderError): object | undefined;
}

const defaultIdleMs = 120_000;
const maxBodyBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/** One call over HTTP: the question goes out, the parts of the answer come back as they arrive. */
export async function* streamCall(
  options: WireOptions,
  question: WireRequest,
  answer: ResponseParser,
  signal: AbortSignal,
): AsyncGenerator<ModelPart[]> {
  signal.throwIfAborted();
  const idleTimeout = new IdleTimeout(options.idleMs ?? defaultIdleMs, signal);
  let reader: BodyReader | undefined;
  const parts = new PartCollector();
  try {
    idleTimeout.begin();
    const response = await sendRequest(options, question, idleTimeout.controller.signal);
    idleTimeout.pause();
    if (!response.body) throw createNetworkError(options, "answered without a body.");
    reader = new BodyReader(response.body);
    if (!response.ok) {
      const body = await readBody(reader, idleTimeout, maxErrorBytes).catch(() => "");
      const providerError = parseErrorResponse(response.status, response.headers, body, Date.now());
      const amended = question.amend?.(providerError);
      if (!amended) throw createModelError(options, providerError);
      yield* streamCall(options, { path: question.path, headers: question.headers, body: amended }, answer, signal);
      return;
    }
    const kind = response.headers.get("content-type") ?? "";
    if (kind.includes("text/html")) {
      throw createModelError(options, {
        status: response.status,
        message: "it sent a web page. Is the address right?",
      });
    }
    if (kind.includes("json")) {
      const body = await readBody(reader, idleTimeout, maxBodyBytes);
      readSafely(options, () => answer.takeWhole(parsePayload(options, body), parts));
      if (!parts.isFinished) throw createNetworkError(options, "sent an answer without an end.");
      yield parts.take();
      return;
    }
    const events = new EventParser();
    while (!parts.isFinished) {
      idleTimeout.begin();
      const bytes = await reader.read();
      idleTimeout.pause();
      readSafely(options, () => {
        for (const payload of bytes ? events.push(bytes) : events.end()) {
          const providerError =
            payload === "[DONE]" ? answer.end(parts, true) : answer.take(parsePayload(options, payload), parts);
          if (providerError) return providerError;
          if (parts.isFinished) return;
        }
        if (!bytes) answer.end(parts, false);
      });
      if (!bytes && !parts.isFinished) throw createNetworkError(options, "broke off in the middle of its answer.");
      const arrived = parts.take();
      if (arrived.length > 0) yield arrived;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw toModelError(options, error, idleTimeout);
  } finally {
    if (parts.isFinished && reader) void drain(reader, idleTimeout);
    else {
      idleTimeout.end();
      void reader?.cancel().catch(() => {});
      idleTimeout.controller.abort();
    }
  }
}

async function sendRequest(
  options: WireOptions,
  { path, headers, body }: WireRequest,
  signal: AbortSignal,
): Promise<Response> {
  // The platform's own complaint about a header would show its value.
  if (options.key && /[^\x21-\x7e]/.test(options.key)) {
    throw createModelError(options, {
      type: "invalid_api_key",
      message: "it contains blanks or characters that no key has.",
    });
  }
  const response = await options.fetch(joinUrl(options.base, path), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...headers, ...options.headers },
    body: JSON.stringify({ ...body, ...options.extra }),
    redirect: "manual",
    signal,
  });
  if (response.status >= 300 && response.status < 400) {
    void response.body?.cancel().catch(() => {});
    throw createRedirectError(options, response.status);
  }
  return response;
}

/** A base may end in a slash and may carry a query of its own. */
function joinUrl(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

/** Whatever a server invents, it ends as a failure of a kind we know. */
function readSafely(options: WireOptions, read: () => ProviderError | undefined | void): void {
  let providerError: ProviderError | undefined | void;
  try {
    providerError = read();
  } catch (error) {
    throw error instanceof ModelError ? error : createNetworkError(options, "sent something that is not its format.");
  }
  if (providerError) throw createModelError(options, { ...providerError, midway: true });
}

function parsePayload(options: WireOptions, payload: string): never {
  let event: unknown;
  try {
    event = JSON.parse(payload);
  } catch {
    throw createNetworkError(options, "sent something that is not JSON.");
  }
  const providerError = parseProviderError(event);
  if (providerError) throw createModelError(options, { ...providerError, midway: true });
  return event as never;
}

async function readBody(reader: BodyReader, retryTimeoutMs: IdleTimeout, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let whole = "";
  for (;;) {
    retryTimeoutMs.begin();
    const bytes = await reader.read();
    retryTimeoutMs.pause();
    if (!bytes) return whole + decoder.decode();
    whole += decoder.decode(bytes, { stream: true });
    if (whole.length > most) return whole.slice(0, most);
  }
}

function toModelError(options: WireOptions, error: unknown, retryTimeoutMs: IdleTimeout): ModelError {
  if (error instanceof ModelError) return error;
  if (retryTimeoutMs.hasExpired)
    return createNetworkError(
      options,
      `was silent for ${Math.round((options.idleMs ?? defaultIdleMs) / 1000)} seconds.`,
    );
  return createNetworkError(
    options,
    `could not be reached or broke off: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** What little follows the end is read, so that the connection can serve the next call; its silence has the same limit. */
async function drain(reader: BodyReader, retryTimeoutMs: IdleTimeout): Promise<void> {
  retryTimeoutMs.begin();
  try {
    while (await reader.read());
  } catch {
    // Whoever breaks off now has nothing left to say.
  } finally {
    retryTimeoutMs.end();
  }
}
