import type { AgentTarget } from "@thinkery/sdk";
import type { AgentHandle } from "@thinkery/sdk/client";
import { Option } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { parseAgentTarget } from "../target.ts";
import { wholeNumber } from "./number.ts";

export const targetHelp = "alice or alice@review";

/** The agent whose workspace a command is about. */
export async function reachAgent(cli: Cli, text: string): Promise<{ agent: AgentHandle; target: AgentTarget }> {
  const target = parseAgentTarget(text);
  const { client } = await connect(cli);
  await findAgent(client, target);
  return { agent: client.agent(`${target.agent}@${target.agency}`), target };
}

export const branchOption = () => new Option("--branch <name>", "of another branch than main");

// Not --version: that is the program's own, wherever it stands.
export const atOption = () => new Option("--at <version>", "as it was at this version").argParser(wholeNumber("a version"));

export interface PlaceFlags {
  branch?: string;
  at?: number;
}

/** The files that a command is about: of which branch, as of which version. */
export function placeOf({ branch, at }: PlaceFlags): { branch?: string; version?: number } {
  return { ...(branch === undefined ? {} : { branch }), ...(at === undefined ? {} : { version: at }) };
}
