import type { AgentTarget } from "@thinkery/sdk";
import type { AgentHandle } from "@thinkery/sdk/client";
import { Option } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, type Connection } from "../connect.ts";
import { parseAgentTarget } from "../target.ts";
import { parsePositiveInteger } from "./parse-positive-integer.ts";

export const targetHelp = "agent, as alice or alice@review";

/** Connects to the agent of a target. */
export async function connectToAgent(
  cli: Cli,
  text: string,
): Promise<{ agent: AgentHandle; target: AgentTarget; connection: Connection }> {
  const target = parseAgentTarget(cli, text);
  const connection = await connect(cli);
  await findAgent(connection.client, target);
  return { agent: connection.client.agent(`${target.agent}@${target.agency}`), target, connection };
}

/** No host accepts larger files, whatever its configuration, so they are not even read. */
export const maxFileBytes = 100 * 1024 * 1024;

export const createBranchOption = () => new Option("--branch <name>", "branch (default: main)");

// Not --version: commander handles that for the program, wherever it appears.
export const createVersionOption = () =>
  new Option("--at <version>", "use this version (default: the latest)").argParser(parsePositiveInteger);

export interface FileFlags {
  branch?: string;
  at?: number;
}

/** Converts flags to the branch and version of a file request. */
export function toFileQuery({ branch, at }: FileFlags): { branch?: string; version?: number } {
  return { ...(branch === undefined ? {} : { branch }), ...(at === undefined ? {} : { version: at }) };
}
