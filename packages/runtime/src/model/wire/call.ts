import { ModelError } from "../error.ts";
import type { ModelPart } from "../model.ts";
import { BodyReader } from "./body.ts";
import { type ProviderError, createModelError, createNetworkError, createRedirectError } from "./create-model-error.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { PartCollector } from "./parts.ts";
import { parseProviderError, parseErrorResponse } from "./provider-error.ts";
import { EventParser } from "./sse.ts";

export interface WireOptions {
  /** `provider:model` */
  id: string;
  /** The provider's name for the model. */
  model: string;
  /** The base URL including the version, such as `https://api.openai.com/v1`. */
  base: string;
  key?: string;
  /** The environment variable that holds the key, for error messages. */
  keyName?: string;
  fetch: typeof fetch;
  headers?: Record<string, string>;
  /** How long the provider may send no data. Local models can take long to load. */
  idleMs?: number;
  /** Extra fields of the request body; they override ours. */
  extra?: Record<string, unknown>;
}

/** Parses one response of one wire format. */
export interface ResponseParser {
  /** Adds an event to the parts and finishes them at the format's end marker. Returns the error if the event is one. */
  take(event: never, parts: PartCollector): ProviderError | undefined;
  /** Called when the body ends or on `[DONE]` (`marked`). Finishes the parts if that ends a response in this format. */
  end(parts: PartCollector, marked: boolean): void;
  /** Adds a complete response, from a server that does not stream. */
  takeWhole(body: never, parts: PartCollector): ProviderError | undefined;
}

interface WireRequest {
  path: string;
  headers: Record<string, string>;
  body: object;
  /** Called once if the request is rejected. Returns a body that this server may accept, if there is one. */
  amend?(error: ProviderError): object | undefined;
}

const defaultIdleMs = 120_000;
const maxBodyChars = 64 * 1024 * 1024;
const maxErrorChars = 64 * 1024;

/** Makes one call over HTTP and yields the parts of the response as they arrive. */
export async function* streamCall(
  options: WireOptions,
  request: WireRequest,
  parser: ResponseParser,
  signal: AbortSignal,
): AsyncGenerator<ModelPart[]> {
  signal.throwIfAborted();
  const idleTimeout = new IdleTimeout(options.idleMs ?? defaultIdleMs, signal);
  let reader: BodyReader | undefined;
  const parts = new PartCollector();
  try {
    idleTimeout.begin();
    const response = await sendRequest(options, request, idleTimeout.controller.signal);
    idleTimeout.pause();
    if (!response.body) throw createNetworkError(options, "returned a response without a body.");
    reader = new BodyReader(response.body);
    if (!response.ok) {
      const body = await readBody(reader, idleTimeout, maxErrorChars).catch(() => "");
      const providerError = parseErrorResponse(response.status, response.headers, body, Date.now());
      const amended = request.amend?.(providerError);
      if (!amended) throw createModelError(options, providerError);
      yield* streamCall(options, { path: request.path, headers: request.headers, body: amended }, parser, signal);
      return;
    }
    const contentType = response.headers.get("content-type") ?? "";
    if (contentType.includes("text/html")) {
      throw createModelError(options, {
        status: response.status,
        message: "it returned a web page. Check the base URL of the provider.",
      });
    }
    if (contentType.includes("json")) {
      const body = await readBody(reader, idleTimeout, maxBodyChars);
      readSafely(options, () => parser.takeWhole(parsePayload(options, body), parts));
      if (!parts.isFinished) throw createNetworkError(options, "sent an incomplete response.");
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
            payload === "[DONE]" ? parser.end(parts, true) : parser.take(parsePayload(options, payload), parts);
          if (providerError) return providerError;
          if (parts.isFinished) return;
        }
        if (!bytes) parser.end(parts, false);
      });
      if (!bytes && !parts.isFinished)
        throw createNetworkError(options, "closed the stream before the response was complete.");
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
  // The platform's error for an invalid header would include its value.
  if (options.key && /[^\x21-\x7e]/.test(options.key)) {
    throw createModelError(options, {
      type: "invalid_api_key",
      message: "it contains spaces or other invalid characters.",
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

/** The base may end in a slash and have a query. */
function joinUrl(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

/** Turns anything unexpected in a response into a ModelError. */
function readSafely(options: WireOptions, read: () => ProviderError | undefined | void): void {
  let providerError: ProviderError | undefined | void;
  try {
    providerError = read();
  } catch (error) {
    throw error instanceof ModelError ? error : createNetworkError(options, "sent a response in an unexpected format.");
  }
  if (providerError) throw createModelError(options, { ...providerError, midway: true });
}

function parsePayload(options: WireOptions, payload: string): never {
  let event: unknown;
  try {
    event = JSON.parse(payload);
  } catch {
    throw createNetworkError(options, "sent invalid JSON.");
  }
  const providerError = parseProviderError(event);
  if (providerError) throw createModelError(options, { ...providerError, midway: true });
  return event as never;
}

async function readBody(reader: BodyReader, idleTimeout: IdleTimeout, maxChars: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    idleTimeout.begin();
    const bytes = await reader.read();
    idleTimeout.pause();
    if (!bytes) return text + decoder.decode();
    text += decoder.decode(bytes, { stream: true });
    if (text.length > maxChars) return text.slice(0, maxChars);
  }
}

function toModelError(options: WireOptions, error: unknown, idleTimeout: IdleTimeout): ModelError {
  if (error instanceof ModelError) return error;
  if (idleTimeout.hasExpired)
    return createNetworkError(
      options,
      `sent no data for ${Math.round((options.idleMs ?? defaultIdleMs) / 1000)} seconds.`,
    );
  return createNetworkError(
    options,
    `could not be reached, or the connection was lost: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** Reads what follows the end, so that the connection can be reused. The idle timeout still applies. */
async function drain(reader: BodyReader, idleTimeout: IdleTimeout): Promise<void> {
  idleTimeout.begin();
  try {
    while (await reader.read());
  } catch {
    // The response is already complete.
  } finally {
    idleTimeout.end();
  }
}
