import { defer, defineTool, type Tool, type WebhookTool } from "@thinkery/sdk";
import type { Outbound } from "../host/outbound.ts";
import { parseUntrustedSchema } from "./untrusted-schema.ts";

const maxResponseBytes = 1024 * 1024;

/**
 * Creates a tool that sends each call to a URL. The response is the result; status 202 means that the result is reported
 * later, under the call's id.
 */
export function createWebhookTool({ name, description, parameters, webhook }: WebhookTool, send: Outbound): Tool {
  const tool = defineTool<unknown>(
    {
      name,
      description,
      inputSchema: parseUntrustedSchema(parameters),
      action: "call",
      preview: (input) => ({ kind: "request", method: "POST", url: webhook.url, body: JSON.stringify(input) }),
      summarize: () => `response from ${new URL(webhook.url).host}`,
    },
    async (input, { callId, runId, agent, signal }) => {
      const body = JSON.stringify({ tool: name, input, callId, runId, agent });
      const headers = { "content-type": "application/json", "idempotency-key": callId };
      const response = await send(webhook.url, { method: "POST", headers, body, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new Error(`${new URL(webhook.url).host} could not be reached.`, { cause: error });
      });
      if (response.status === 202) {
        await response.body?.cancel();
        return defer();
      }
      const text = await readLimitedText(response);
      if (!response.ok) throw new Error(`it responded with ${response.status}. ${text.slice(0, 1000)}`.trim());
      return text;
    },
  );
  return { ...tool, parameters };
}

async function readLimitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Error(`its response is larger than ${maxResponseBytes} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(await new Blob(chunks).arrayBuffer());
}
