import type { Tool } from "@thinkery/sdk";
import type { Outbound } from "../../host/outbound.ts";
import type { Redact } from "../../store/redact.ts";
import { echo } from "./echo.ts";
import { createFetchCapability } from "./fetch.ts";
import { fileCapabilities } from "./files.ts";

/** What code may call beside its agent's tools. Models, channels and the host itself join them with agents that are code. */
export function createCapabilities(send: Outbound, redact: Redact): readonly Tool[] {
  return [echo, createFetchCapability(send, redact), ...fileCapabilities];
}
