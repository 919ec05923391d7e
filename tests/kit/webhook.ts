import http from "node:http";
import type { AddressInfo } from "node:net";

export interface WebhookCall {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: { tool: string; input: unknown; callId: string; runId: string; agent: string };
}

/** A server for webhook tools. Responds to each call with what `answer` returns. */
export async function openWebhook(
  answer: (call: WebhookCall) => { status?: number; text?: string; headers?: Record<string, string> },
) {
  const calls: WebhookCall[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = {
      path: request.url ?? "",
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString() || "{}"),
    };
    calls.push(call);
    const { status = 200, text = "", headers = {} } = answer(call);
    response.on("error", () => {});
    response.writeHead(status, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type Webhook = Awaited<ReturnType<typeof openWebhook>>;
