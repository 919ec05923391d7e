import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fail, isThinkeryError, type Message } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { locateHome } from "../home/home.ts";
import type { Cli } from "./cli.ts";
import { connect } from "./connect.ts";
import { exitCodes } from "./exit.ts";
import { stopOnInterrupt } from "./interrupt.ts";
import { sanitize, sanitizeIndented } from "./output.ts";
import { getDefaultAgency } from "./target.ts";

/** Runs a script with a temporary agent and prints the conversation. */
export async function playScript(cli: Cli, script: string, messages: string[]): Promise<void> {
  const name = `play-${randomUUID().slice(0, 8)}`;
  const agency = getDefaultAgency(cli);
  const params = { agency, agent: name };
  const stop = stopOnInterrupt(cli, () => cli.output.writeMessage("Stopping… Press Ctrl+C again to quit immediately."));
  const removeScript = isFile(script) ? await copyScript(cli, script, name) : undefined;
  try {
    const { client } = await connect(cli);
    await client.call("createAgent", {
      params: { agency },
      body: { name, model: `scripted:${removeScript ? name : script}` },
    });
    try {
      await sendMessages(cli, client, name, messages, stop);
      const { messages: conversation } = await client.call("listMessages", { params, query: { limit: 500 } });
      cli.output.reply({ script, messages: conversation }, () =>
        conversation.map((message) => formatMessage(cli, message)).join("\n"),
      );
    } finally {
      await deleteAgent(cli, client, params);
    }
  } finally {
    await removeScript?.();
  }
}

/** Tokens for talking to agents may create an agent but not delete it. The script was played nevertheless. */
async function deleteAgent(cli: Cli, client: Client, params: { agency: string; agent: string }): Promise<void> {
  try {
    await withRetry((signal) => client.call("deleteAgent", { params, signal }));
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "forbidden") throw error;
    cli.output.writeMessage(
      `The temporary agent ${params.agent} was left in the agency ${params.agency}, because your token may not delete agents. Delete it with a token with the scope admin: \`thinkery rm ${params.agent}@${params.agency}\``,
    );
  }
}

async function sendMessages(
  cli: Cli,
  client: Client,
  agent: string,
  messages: string[],
  stop: AbortSignal,
): Promise<void> {
  for (const message of messages) {
    try {
      await client.call("serve", { body: { agent, message }, signal: stop });
    } catch (error) {
      // Scripts may fail on purpose; the conversation shows the outcome.
      cli.output.writeMessage(sanitizeIndented(stop.aborted ? "Interrupted." : (error as Error).message));
      cli.setExitCode(stop.aborted ? exitCodes.interrupted : exitCodes.failed);
      if (stop.aborted) return;
    }
  }
}

function isFile(script: string): boolean {
  return /\.ya?ml$|[/\\]/i.test(script);
}

// The host reads scripts from its own folder, so the file is copied there while it runs.
async function copyScript(cli: Cli, file: string, name: string): Promise<() => Promise<void>> {
  if (cli.env.THINKERY_URL)
    throw fail("bad_request", "A remote host cannot read local files. Pass the name of one of its own scripts.");
  const { parseScript } = await import("../scripts/parse.ts");
  const text = await readFile(resolve(cli.cwd, file), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw fail("bad_request", `Cannot read ${file} (${error.code}).`);
  });
  parseScript(file, text);
  const folder = join(locateHome(cli.env).path, "scripts");
  const path = join(folder, `${name}.yaml`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
  return async () => {
    await rm(path, { force: true });
    await rmdir(folder).catch(() => {});
  };
}

function formatMessage({ output }: Cli, { role, content, toolCalls = [], toolResult, error }: Message): string {
  if (role === "user") return output.bold(`> ${sanitizeIndented(content)}`);
  if (toolResult)
    return output.dim(
      `    ${toolResult.failed ? "failed" : "→"} ${sanitizeIndented(toolResult.summary || toolResult.preview)}`,
    );
  const calls = toolCalls.map(({ name, input }) =>
    output.dim(`  ${name} ${sanitizeIndented(JSON.stringify(input) ?? "")}`),
  );
  return [...(content ? [sanitize(content)] : []), ...calls, ...(error ? [`! ${sanitizeIndented(error)}`] : [])].join(
    "\n",
  );
}
