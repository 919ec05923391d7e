import { decodeBase64, encodeBase64 } from "./base64.ts";
import { rejectOnAbort } from "./reject-on-abort.ts";

type FetchInput = Parameters<typeof fetch>[0];

export type CallFetch = (input: FetchInput, init?: RequestInit) => Promise<Response>;

/** The result of the capability `fetch`. */
interface FetchResult {
  status: number;
  statusText?: string;
  headers?: Record<string, string> | [string, string][];
  body?: string;
  bodyBase64?: string;
}

const { Request: NativeRequest, Response: NativeResponse } = globalThis;

/** Creates a `fetch` that calls the capability of this name. `prepare` is called at once, with the caller's stack. */
export function createFetch(prepare: (callee: Function) => (input: unknown) => Promise<unknown>): CallFetch {
  const fetch: CallFetch = async (input, init) => {
    const send = prepare(fetch);
    const request = new NativeRequest(input as string | Request, init);
    const signal = init?.signal ?? (input instanceof NativeRequest ? input.signal : undefined);
    signal?.throwIfAborted();
    const result = send({
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(await encodeRequestBody(request)),
    });
    return toResponse((await (signal ? rejectOnAbort(result, signal) : result)) as FetchResult, request.url);
  };
  return fetch;
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
  const response = new NativeResponse(content as ConstructorParameters<typeof Response>[0], {
    status,
    headers: new Headers(headers),
    ...(statusText ? { statusText } : {}),
  });
  return Object.defineProperty(response, "url", { value: url, configurable: true });
}
