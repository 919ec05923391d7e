import type { TestHost } from "@thinkery/sdk/test";
import type { ExpensiveRequest } from "./expensive-request.ts";

interface Waits {
  statuses: number[];
  totalMs: number;
  /** Requests of another client that were answered meanwhile, and the longest it waited for one. */
  answers: number;
  maxWaitMs: number;
}

/** Sends a request several times at once, while another client asks for /health over and over. */
export async function sendWhileOthersWait(
  { url }: Pick<TestHost, "url">,
  token: string,
  request: ExpensiveRequest,
  atOnce: number,
): Promise<Waits> {
  const { agent, method } = request;
  const path = typeof request.path === "function" ? request.path() : request.path;
  const body: unknown = typeof request.body === "function" ? request.body() : request.body;
  const target = path.startsWith("/") ? url + path : `${url}/agents/${agent}/${path}`;
  const isRaw = body === undefined || body instanceof Uint8Array || typeof body === "string";
  const payload = isRaw ? body : JSON.stringify(body);
  const send = async () => {
    const response = await fetch(target, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined
          ? {}
          : { "content-type": typeof payload === "string" ? "application/json" : "application/zip" }),
      },
      ...(payload === undefined ? {} : { body: payload as BodyInit }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const startedAt = performance.now();
  let isDone = false;
  const sent = Promise.all(Array.from({ length: atOnce }, send)).finally(() => (isDone = true));
  let answers = 0;
  let maxWaitMs = 0;
  while (!isDone) {
    const askedAt = performance.now();
    await (await fetch(`${url}/health`)).arrayBuffer();
    maxWaitMs = Math.max(maxWaitMs, performance.now() - askedAt);
    answers++;
  }
  return { statuses: await sent, totalMs: performance.now() - startedAt, answers, maxWaitMs };
}
