import { defineTool, type Tool } from "@thinkery/sdk";
import type { Outbound } from "../../host/outbound.ts";
import { matchRequest, suggestRequestMatch } from "../../policy/match-request.ts";
import type { Redact } from "../../store/redact.ts";
import { type FetchInput, fetchInputSchema } from "./fetch/input.ts";
import { redactRequest, summarizeFetch } from "./fetch/redact-request.ts";
import { type FetchResponse, readResponse } from "./fetch/response.ts";

/**
 * What code has as `fetch`. Nothing is reached before a rule allows it, and then only what the door to the network
 * reaches. A redirect is an answer like any other: where it leads is asked for anew, or not at all.
 */
export function createFetchCapability(send: Outbound, redact: Redact): Tool {
  return defineTool(
    {
      name: "fetch",
      description: "Sends a request over HTTP and gives the answer.",
      inputSchema: fetchInputSchema,
      action: "fetch",
      parallel: true,
      timeoutSeconds: 30,
      defaultPolicy: "deny",
      matchesRule: (match, input, action) => matchRequest(match, input as FetchInput, action),
      ruleFor: (input) => suggestRequestMatch(input as FetchInput),
      redactInput: (input) => redactRequest(input, redact),
      summarize: (answer) => summarizeFetch(answer as FetchResponse, redact),
    },
    async ({ url, method, headers, body, bodyBase64 }, { signal }) => {
      const sent = bodyBase64 === undefined ? body : Buffer.from(bodyBase64, "base64");
      const response = await send(url, {
        method,
        headers,
        signal,
        ...(sent === undefined ? {} : { body: sent }),
      }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new Error(`${new URL(url).host} cannot be reached from here.`, { cause: error });
      });
      return readResponse({ method, url }, response, signal);
    },
  );
}
