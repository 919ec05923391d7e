import type { RunHost } from "../../run.ts";
import { encodeBase64, decodeBase64 } from "./base64.ts";
import { type Ask, type Bash, type FileSystem, createFileSystem } from "./file-system.ts";
import { Queue } from "./queue.ts";

/** What code may ask of main: the agent's tools and files, an echo, the network as far as the agent's policy allows. */

interface Capabilities {
  tools: Record<string, (input?: unknown) => Promise<unknown>>;
  echo(value: unknown): Promise<unknown>;
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  fs: FileSystem;
  bash: Bash;
}

/** What fetch answers, as it is told from main. */
interface FetchResult {
  status: number;
  statusText?: string;
  headers?: Record<string, string> | [string, string][];
  body?: string;
  bodyBase64?: string;
}

const maxConcurrentCalls = 64;

const { parse, stringify } = JSON;
const { Request: NativeRequest, Response: NativeResponse } = globalThis;

/** `open` has the name of each call that is under way. */
export function createCapabilities(host: RunHost, open: string[] = []): Capabilities {
  const queue = new Queue(maxConcurrentCalls);
  /** An error from outside says what went wrong; where it was asked for is known here only, and only now. */
  const call = async (capability: string, input: string, asked: Error): Promise<unknown> => {
    open.push(capability);
    try {
      const answer = await queue.run(() => host.call(capability, input));
      return answer === "" ? undefined : parse(answer);
    } catch (error) {
      const message = (error as Error)?.message ?? String(error);
      throw toCallError(asked, message.includes("after being disposed") ? "What this was given to is over." : message);
    } finally {
      open.splice(open.indexOf(capability), 1);
    }
  };
  const tool = (name: string) => {
    const ask = async (input: unknown = {}) => call(`tools.${name}`, stringify(input) ?? "{}", captureCaller(ask));
    return ask;
  };
  const echo = async (value: unknown) => call("echo", stringify(value) ?? "null", captureCaller(echo));
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const asked = captureCaller(fetch);
    const request = new NativeRequest(input as RequestInfo, init);
    const signal = init?.signal ?? (input instanceof NativeRequest ? input.signal : undefined);
    signal?.throwIfAborted();
    const answer = call(
      "fetch",
      stringify({
        url: request.url,
        method: request.method,
        headers: Object.fromEntries(request.headers),
        ...(await encodeRequestBody(request)),
      }),
      asked,
    );
    return toResponse((await (signal ? rejectOnAbort(answer, signal) : answer)) as FetchResult, request.url);
  };
  /** A function that asks main: what it is given becomes the input, and what comes back its answer. */
  const createAsk: Ask = (capability, inputOf, answerOf) => {
    const ask = async (...given: Parameters<typeof inputOf>) => {
      const asked = captureCaller(ask);
      return answerOf(await call(capability, stringify(inputOf(...given)), asked));
    };
    return ask;
  };
  return {
    ...createFileSystem(createAsk),
    // Nobody asks for a tool called “then”; `await tools` does.
    tools: new Proxy(
      {},
      { get: (_, name) => (typeof name === "string" && name !== "then" ? tool(name) : undefined) },
    ) as Capabilities["tools"],
    echo,
    fetch,
  };
}

/** An error that knows who called, without our own lines. */
function captureCaller(by: Function): Error {
  const error = new Error("asked");
  Error.captureStackTrace(error, by);
  return error;
}

function toCallError(asked: Error, message: string): Error {
  const [, ...places] = (asked.stack ?? "").split("\n");
  asked.message = message;
  asked.stack = [`Error: ${message}`, ...places].join("\n");
  return asked;
}

async function encodeRequestBody(request: Request): Promise<{ body?: string; bodyBase64?: string }> {
  if (!request.body) return {};
  const bytes = new Uint8Array(await request.arrayBuffer());
  try {
    return { body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { bodyBase64: encodeBase64(bytes) };
  }
}

function toResponse({ status, statusText, headers, body, bodyBase64 }: FetchResult, url: string): Response {
  const isEmpty = status === 101 || status === 204 || status === 205 || status === 304;
  const content = isEmpty ? null : bodyBase64 === undefined ? (body ?? "") : decodeBase64(bodyBase64);
  const response = new NativeResponse(content, {
    status,
    headers: new Headers(headers),
    ...(statusText ? { statusText } : {}),
  });
  return Object.defineProperty(response, "url", { value: url, configurable: true });
}

function rejectOnAbort<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    answer.then(resolve, reject);
  });
}
