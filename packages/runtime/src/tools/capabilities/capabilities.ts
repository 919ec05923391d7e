import type { Tool } from "@thinkery/sdk";
import type { Outbound } from "../../host/outbound.ts";
import { echo } from "./echo.ts";
import { fetchCapability } from "./fetch.ts";

/**
 * What code may call beside its agent's tools. Files and the shell join them with the workspace; models, channels and
 * the host itself with agents that are code.
 */
export function capabilitiesOf(send: Outbound): readonly Tool[] {
  return [echo, fetchCapability(send)];
}
