import { defer, defineTool, type Tool, type WebhookTool } from "@thinkery/sdk";
import type { Outbound } from "../host/outbound.ts";
import { stripPatterns } from "./strip-patterns.ts";

const maxResponseBytes = 1024 * 1024;

/**
 * A tool that answers at an address. It is sent the call, and what it answers is the result; 202 means that the result
 * is reported later, under the call's id.
 */
export function createWebhookTool({ name, description, parameters, webhook }: WebhookTool, send: Outbound): Tool {
  const tool = defineTool<unknown>(
    {
      name,
      description,
      inputSchema: stripPatterns(parameters),
      action: "call",
      summarize: () => `answer of ${new URL(webhook.url).host}`,
    },
    async (input, { callId, runId, agent, signal }) => {
      const body = JSON.stringify({ tool: name, input, callId, runId, agent });
      const headers = { "content-type": "application/json", "idempotency-key": callId };
      const answer = await send(webhook.url, { method: "POST", headers, body, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new Error(`${new URL(webhook.url).host} cannot be reached from here.`, { cause: error });
      });
      if (answer.status === 202) {
        await answer.body?.cancel();
        return defer();
      }
      const text = await readLimitedText(answer);
      if (!answer.ok) throw new Error(`it answered ${answer.status}. ${text.slice(0, 1000)}`.trim());
      return text;
    },
  );
  return { ...tool, parameters };
}

async function readLimitedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Error(`its answer has more than ${maxResponseBytes} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(await new Blob(chunks).arrayBuffer());
}
