import type { AgentTarget } from "@thinkery/sdk";
import type { AgentHandle } from "@thinkery/sdk/client";
import { Option } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, type Connection } from "../connect.ts";
import { parseAgentTarget } from "../target.ts";
import { createIntegerParser } from "./integer-parser.ts";

export const targetHelp = "alice or alice@review";

/** The agent whose workspace a command is about. */
export async function connectToAgent(
  cli: Cli,
  text: string,
): Promise<{ agent: AgentHandle; target: AgentTarget; connection: Connection }> {
  const target = parseAgentTarget(text);
  const connection = await connect(cli);
  await findAgent(connection.client, target);
  return { agent: connection.client.agent(`${target.agent}@${target.agency}`), target, connection };
}

/** No host takes a larger file, however it is configured; whatever is larger will not even be read. */
export const maxFileBytes = 100 * 1024 * 1024;

export const createBranchOption = () => new Option("--branch <name>", "of another branch than main");

// Not --version: that is the program's own, wherever it stands.
export const createVersionOption = () =>
  new Option("--at <version>", "as it was at this version").argParser(createIntegerParser("a version"));

export interface FileFlags {
  branch?: string;
  at?: number;
}

/** The files that a command is about: of which branch, as of which version. */
export function toFileQuery({ branch, at }: FileFlags): { branch?: string; version?: number } {
  return { ...(branch === undefined ? {} : { branch }), ...(at === undefined ? {} : { version: at }) };
}
