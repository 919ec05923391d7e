import { defineTool, type Tool } from "@thinkery/sdk";
import type { Redact } from "@thinkery/sdk/internal";
import { z } from "zod";
import type { Outbound } from "../../host/outbound.ts";
import { createFetchCapability } from "./fetch.ts";
import { fileCapabilities } from "./files.ts";

/** Lets code check that its host is there. */
const echo = defineTool(
  { name: "echo", description: "Returns its input.", inputSchema: z.unknown(), idempotent: true, parallel: true },
  (input) => input,
);

/**
 * Functions that code can call in addition to its agent's tools. Models, channels and the host follow with agents that
 * are code.
 */
export function createCapabilities(send: Outbound, redact: Redact): readonly Tool[] {
  return [echo, createFetchCapability(send, redact), ...fileCapabilities];
}
