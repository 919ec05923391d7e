import { ToolError } from "@thinkery/sdk";

const maxResponseBytes = 5 * 1024 * 1024;

/** The response that code gets. The body is unchanged, as text or base64, and may be absent. */
export interface FetchResponse {
  method: string;
  url: string;
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body?: string;
  bodyBase64?: string;
}

/** There is no cookie jar, and the other headers describe a connection that ends here. */
const hiddenHeader = /^(?:set-cookie2?|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|alt-svc)$/;

const textualType =
  /^(?:text\/.*|application\/(?:json|ld\+json|x-ndjson|jsonl|xml|javascript|ecmascript|x-javascript|x-www-form-urlencoded|graphql|yaml|x-yaml|toml|sql)|.*\+(?:json|xml|yaml))$/i;

/** Reads a whole response. Throws if it is too large. */
export async function readResponse(
  request: { method: string; url: string },
  response: Response,
  signal: AbortSignal,
): Promise<FetchResponse> {
  const { status, statusText } = response;
  const bytes = await readBytes(request, response, signal);
  const head = { ...request, status, statusText, headers: filterHeaders(response, request.method) };
  if (request.method === "HEAD" || [204, 205, 304].includes(status)) return head;
  const text = isTextual(response) ? decodeText(bytes) : undefined;
  return text === undefined ? { ...head, bodyBase64: Buffer.from(bytes).toString("base64") } : { ...head, body: text };
}

export function getBodySize({ body = "", bodyBase64 }: Pick<FetchResponse, "body" | "bodyBase64">): number {
  return bodyBase64 === undefined ? Buffer.byteLength(body) : Buffer.byteLength(bodyBase64, "base64");
}

async function readBytes({ url }: { url: string }, { body }: Response, signal: AbortSignal): Promise<Uint8Array> {
  if (!body) return new Uint8Array();
  const { host } = new URL(url);
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return Buffer.concat(chunks);
      chunks.push(value);
      size += value.length;
      if (size > maxResponseBytes)
        throw new ToolError(
          "too_large",
          `The response from ${host} is larger than ${maxResponseBytes / 1024 / 1024} MB. Request less at a time.`,
        );
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    throw new Error(`${host} closed the connection before the response was complete.`, { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
    await reader.cancel().catch(() => {});
  }
}

function filterHeaders({ headers }: Response, method: string): Record<string, string> {
  const wasDecoded = headers.has("content-encoding");
  return Object.fromEntries(
    [...headers].filter(([name]) => {
      if (hiddenHeader.test(name)) return false;
      // The body was already decoded. A HEAD response has no body, and its headers are of interest.
      return method === "HEAD" || !wasDecoded || (name !== "content-encoding" && name !== "content-length");
    }),
  );
}

function isTextual({ headers }: Response): boolean {
  return textualType.test((headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "");
}

// Keeps a byte order mark, so that the text encodes to the same bytes.
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
