import * as sdk from "@thinkery/sdk";
import type { Cli } from "./cli.ts";

export { type AgentTarget, isChannelTarget, parseAgencyId } from "@thinkery/sdk";

/** The user whose token the commands send. */
export function getUser(cli: Cli): string {
  return sdk.readTokenUser(cli.env.THINKERY_TOKEN);
}

/** The agency of targets that name none. */
export function getDefaultAgency(cli: Cli): string {
  return sdk.getDefaultAgency(getUser(cli));
}

export function parseTarget(cli: Cli, text: string): ReturnType<typeof sdk.parseTarget> {
  return sdk.parseTarget(text, getDefaultAgency(cli));
}

export function parseAgentTarget(cli: Cli, text: string): sdk.AgentTarget {
  return sdk.parseAgentTarget(text, getDefaultAgency(cli));
}

export function parseAgencyTarget(cli: Cli, text: string | undefined): sdk.AgencyTarget {
  return sdk.parseAgencyTarget(text, getDefaultAgency(cli));
}

/** Parses a channel. Without one, it is the default channel of the default agency. */
export function parseChannelTarget(cli: Cli, text: string | undefined): sdk.ChannelTarget {
  return sdk.parseChannelTarget(text ?? `#${sdk.defaultChannel}`, getDefaultAgency(cli));
}

/** Formats the agency of a target as it is typed: nothing if it is the default one. */
export function formatAgencySuffix(cli: Cli, agency: string): string {
  return agency === getDefaultAgency(cli) ? "" : `@${agency}`;
}
