import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentManifest, Approval, Deploy, NewDeploy, Outcome, Run } from "@thinkery/sdk";
import type { AgentDefinition } from "@thinkery/sdk/agent";
import type { Client, NewMessage } from "@thinkery/sdk/client";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "./host-process.ts";
import { waitUntil } from "./wait-until.ts";

interface HostOptions {
  config?: object;
  /** Scripted models by name. */
  scripts?: Record<string, object>;
  env?: Record<string, string>;
}

/** Starts a host with a config and scripted models. */
export async function startAgentHost({ config = {}, scripts = {}, env = {} }: HostOptions = {}): Promise<HostProcess> {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify(config));
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify(script));
  const host = await startHostProcess({ home, env });
  return {
    ...host,
    async stop() {
      await host.stop();
      await removeHome(home);
    },
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test knows the types of its settings and its state
type Definition = AgentDefinition<any, any>;

export interface DeployOptions
  extends Pick<AgentManifest, "displayName" | "settings">, Partial<Omit<NewDeploy, "name" | "code" | "manifest">> {
  agency?: string;
  capabilities?: AgentManifest["capabilities"];
}

/**
 * Deploys an agent: a definition, whose functions can use nothing but their arguments and globals; or a module, in which
 * `defineAgent` is imported already.
 */
export function deployAgent(
  client: Client,
  name: string,
  agent: Definition | string,
  { agency = "global", capabilities = [], displayName, settings, ...fields }: DeployOptions = {},
): Promise<Deploy> {
  const code = typeof agent === "string" ? agent : `export default defineAgent(${toSource(agent)});`;
  const manifest = {
    type: "agent" as const,
    runtime: "isolate" as const,
    capabilities,
    ...(displayName === undefined ? {} : { displayName }),
    ...(settings ? { settings } : {}),
  };
  const body = { name, manifest, code: `${sdkImport}\n${code}`, ...fields };
  return client.call("deployPackage", { params: { agency }, body });
}

export const sdkImport = 'import { defineAgent, formatConversation, toModelMessages } from "/thinkery/sdk.js";';

/** Returns the source of a value that consists of JSON and functions. */
function toSource(value: unknown): string {
  if (typeof value === "function") return toExpression(String(value));
  if (Array.isArray(value)) return `[${value.map(toSource).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return `{ ${entries.map(([key, part]) => `${JSON.stringify(key)}: ${toSource(part)}`).join(", ")} }`;
}

/** Turns a method, such as `onMessage(message, ctx) { … }`, into a function that can be a value. */
function toExpression(source: string): string {
  if (/^(?:async\s*)?(?:function\b|\(|[\w$]+\s*=>)/.test(source)) return `(${source})`;
  return source.replace(/^(async\s+)?(?:[\w$]+|"[^"]*")\s*\(/, "$1function (");
}

/** Sends a message and waits until its turn is over. */
export const runTurn = async (client: Client, agent: string, message: string | NewMessage): Promise<Outcome> =>
  (await client.agent(agent).send(message)).outcome();

/** Sends a message and returns what the agent said. Throws if the turn did not complete. */
export async function ask(client: Client, agent: string, message: string | NewMessage = "Hello."): Promise<string> {
  const { status, content, failure } = await runTurn(client, agent, message);
  if (status !== "completed") throw new Error(`${agent}: ${status}: ${failure?.message ?? "no reason"}`);
  return content;
}

/** Like `ask`, for agents that reply with JSON. */
export const askJson = async (client: Client, agent: string, message?: string | NewMessage): Promise<unknown> =>
  JSON.parse(await ask(client, agent, message));

/** Sends a message whose turn fails, and returns the message of its failure. */
export async function captureFailure(client: Client, agent: string, message: string | NewMessage = "Hello.") {
  const { status, failure } = await runTurn(client, agent, message);
  if (!failure) throw new Error(`${agent}: ${status}, and no failure`);
  return failure;
}

/** Returns role, status and text of each message of the conversation, oldest first. */
export async function listMessages(client: Client, agent: string): Promise<string[][]> {
  const { messages } = await client.agent(agent).messages({ limit: 500 });
  return messages.map(({ role, status, content }) => [role, status, content]);
}

const toParams = (client: Client, target: string) => {
  const { agency, name: agent } = client.agent(target);
  return { agency, agent };
};

export const readLog = async (client: Client, agent: string, query = {}) =>
  (await client.call("listAgentLogs", { params: toParams(client, agent), query })).logs;

/** Waits until the log has as many lines, and returns their texts. Lines reach it a little later than replies. */
export const waitForLog = (client: Client, agent: string, count: number): Promise<string[]> =>
  waitUntil(`${count} lines in the log of ${agent}`, async () => {
    const texts = (await readLog(client, agent)).map(({ text }) => text);
    return texts.length >= count && texts;
  });

export const describeCode = (client: Client, agent: string) =>
  client.call("getAgentCode", { params: toParams(client, agent) });

export const putSettings = (
  client: Client,
  agent: string,
  settings: Record<string, string | number | boolean | null>,
) => client.call("putSettings", { params: toParams(client, agent), body: { settings } });

/** Returns the stored state of an agent's code. */
export async function readState(client: Client, agent: string): Promise<unknown> {
  const { state } = await client.agent(agent).state();
  return (state.code as { state: unknown } | undefined)?.state;
}

/** Waits until the latest turn has this status. */
export const waitForStatus = (client: Client, agent: string, status: Run["status"]): Promise<Run> =>
  waitUntil(`${agent} to be ${status}`, async () => {
    const { run } = await client.agent(agent).state();
    return run.status === status && run;
  });

/** Waits until the agent asks for approval. */
export const waitForApproval = (client: Client, agent: string): Promise<Approval> =>
  waitUntil(`an approval of ${agent}`, async () => (await client.agent(agent).approvals({ status: "pending" }))[0]);
