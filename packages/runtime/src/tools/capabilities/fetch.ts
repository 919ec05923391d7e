import { defineTool, type Tool } from "@thinkery/sdk";
import type { Redact } from "@thinkery/sdk/internal";
import type { Outbound } from "../../host/outbound.ts";
import { matchRequest, suggestRequestMatch } from "../../policy/match-request.ts";
import { type FetchInput, fetchInputSchema } from "./fetch/input.ts";
import { redactRequest, summarizeFetch } from "./fetch/redact-request.ts";
import { type FetchResponse, readResponse } from "./fetch/response.ts";

/**
 * The `fetch` that code gets. Nothing can be reached unless a policy rule and the host's network access allow it.
 * Redirects are returned like any other response: following one is a new request.
 */
export function createFetchCapability(send: Outbound, redact: Redact): Tool {
  return defineTool(
    {
      name: "fetch",
      description: "Sends an HTTP request and returns the response.",
      inputSchema: fetchInputSchema,
      action: "fetch",
      parallel: true,
      timeoutSeconds: 30,
      defaultPolicy: "deny",
      matchesRule: (match, input, action) => matchRequest(match, input as FetchInput, action),
      ruleFor: (input) => suggestRequestMatch(input as FetchInput),
      redactInput: (input) => redactRequest(input, redact),
      summarize: (output) => summarizeFetch(output as FetchResponse, redact),
    },
    async ({ url, method, headers, body, bodyBase64 }, { signal }) => {
      const requestBody = bodyBase64 === undefined ? body : Buffer.from(bodyBase64, "base64");
      const response = await send(url, {
        method,
        headers,
        signal,
        ...(requestBody === undefined ? {} : { body: requestBody }),
      }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new Error(`${new URL(url).host} could not be reached.`, { cause: error });
      });
      return readResponse({ method, url }, response, signal);
    },
  );
}
