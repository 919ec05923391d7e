import type { RunHost } from "../../run.ts";
import { encodeBase64, decodeBase64 } from "./base64.ts";
import { type Bash, type CreateFunction, type FileSystem, createFileSystem } from "./file-system.ts";
import { Queue } from "./queue.ts";

interface Capabilities {
  tools: Record<string, (input?: unknown) => Promise<unknown>>;
  echo(value: unknown): Promise<unknown>;
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  fs: FileSystem;
  bash: Bash;
}

/** The result of the capability `fetch` in main. */
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

/**
 * Creates what code can call in main: tools, files, echo, and fetch within the policy. `open` lists the calls in
 * progress.
 */
export function createCapabilities(host: RunHost, open: string[] = []): Capabilities {
  const queue = new Queue(maxConcurrentCalls);
  /** Errors from main know what went wrong, but not where the code made the call: `caller` has that stack. */
  const call = async (capability: string, input: string, caller: Error): Promise<unknown> => {
    open.push(capability);
    try {
      const output = await queue.run(() => host.call(capability, input));
      return output === "" ? undefined : parse(output);
    } catch (error) {
      const message = (error as Error)?.message ?? String(error);
      throw toCallError(caller, message.includes("after being disposed") ? "The run or request is over." : message);
    } finally {
      open.splice(open.indexOf(capability), 1);
    }
  };
  const createTool = (name: string) => {
    const callTool = async (input: unknown = {}) =>
      call(`tools.${name}`, stringify(input) ?? "{}", captureCaller(callTool));
    return callTool;
  };
  const echo = async (value: unknown) => call("echo", stringify(value) ?? "null", captureCaller(echo));
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const caller = captureCaller(fetch);
    const request = new NativeRequest(input as RequestInfo, init);
    const signal = init?.signal ?? (input instanceof NativeRequest ? input.signal : undefined);
    signal?.throwIfAborted();
    const result = call(
      "fetch",
      stringify({
        url: request.url,
        method: request.method,
        headers: Object.fromEntries(request.headers),
        ...(await encodeRequestBody(request)),
      }),
      caller,
    );
    return toResponse((await (signal ? rejectOnAbort(result, signal) : result)) as FetchResult, request.url);
  };
  const createFunction: CreateFunction = (capability, toInput, toOutput) => {
    const callCapability = async (...args: Parameters<typeof toInput>) => {
      const caller = captureCaller(callCapability);
      return toOutput(await call(capability, stringify(toInput(...args)), caller));
    };
    return callCapability;
  };
  return {
    ...createFileSystem(createFunction),
    // `await tools` looks for a method “then”; there is no tool of this name.
    tools: new Proxy(
      {},
      { get: (_, name) => (typeof name === "string" && name !== "then" ? createTool(name) : undefined) },
    ) as Capabilities["tools"],
    echo,
    fetch,
  };
}

/** Returns an error with the stack of the caller, without our own frames. */
function captureCaller(callee: Function): Error {
  const error = new Error("caller");
  Error.captureStackTrace(error, callee);
  return error;
}

function toCallError(caller: Error, message: string): Error {
  const [, ...frames] = (caller.stack ?? "").split("\n");
  caller.message = message;
  caller.stack = [`Error: ${message}`, ...frames].join("\n");
  return caller;
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

function rejectOnAbort<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    result.then(resolve, reject);
  });
}
