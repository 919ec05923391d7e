import { mkdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { parse, resolve, sep } from "node:path";
import { fail } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import type { Cli } from "../cli.ts";
import { connectIfRunning } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { formatExamples } from "../help.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { sanitizeIndented } from "../output.ts";
import { createBranchOption, connectToAgent, targetHelp } from "./connect-agent.ts";
import { createHostRemote } from "./sync-host.ts";
import { Mirror } from "./sync-mirror.ts";
import type { SyncEvent } from "./sync-pass.ts";
import { keepSynced, syncOnce } from "./sync-run.ts";
import { readState, getStateFile, writeState } from "./sync-state.ts";

interface SyncFlags {
  branch?: string;
  once?: boolean;
  force?: boolean;
}

/** After so long without an answer the host is looked for anew: it may have been started again elsewhere. */
const hostTimeoutMs = 3000;

export function addSync(group: Command, cli: Cli): void {
  group
    .command("sync")
    .description("keep a folder here and the files of an agent alike, until Ctrl+C")
    .argument("<target>", targetHelp)
    .argument("[folder]", "a folder here; what .gitignore names, .git and node_modules stay out", ".")
    .option("--once", "make them alike once, and leave")
    .option("--force", "delete on one side even when most files are gone from the other")
    .addOption(createBranchOption())
    .addHelpText("after", formatExamples(["files sync alice ./project", ""], ["files sync alice ./project --once", ""]))
    .action(async (text: string, given: string, { once = false, force: isSure = false, branch }: SyncFlags) => {
      const folder = await resolveFolder(cli, given);
      const { target, connection } = await connectToAgent(cli, text);
      let client = createClient({ ...connection, retryTimeoutMs: hostTimeoutMs });
      const home = locateHome(cli.env).path;
      const file = getStateFile(
        home,
        folder,
        [cli.env.THINKERY_URL ?? home, target.agency, target.agent, branch ?? ""].join("\0"),
      );
      const remote = createHostRemote({ client: () => client, target, branch });
      const mirror = new Mirror({
        folder,
        remote,
        state: await readState(file),
        onEvent: (event) => printEvent(cli, event),
        onState: (state) => writeState(file, state),
      });
      const signal = stopOnInterrupt(cli, () => cli.output.writeMessage("Stopping; Ctrl+C again leaves at once."));
      if (once) {
        const left = await syncOnce({ mirror, isSure, signal });
        if (left === undefined && signal.aborted) return cli.setExitCode(exitCodes.interrupted);
        if (left === undefined)
          throw fail(
            "conflict",
            "Files are being written on one side or the other, and it does not come to an end; try again.",
          );
        if (left > 0) throw fail("conflict", `${formatFileCount(left)} could not be made alike; all others are.`);
        return;
      }
      const isAlike = await keepSynced({
        folder,
        mirror,
        remote,
        signal,
        isSure,
        onSynced: (left) =>
          cli.output.writeMessage(
            `${given} and the files of ${target.agent}@${target.agency} are alike${left > 0 ? ` but for ${formatFileCount(left)}` : ""}, and are kept so; Ctrl+C ends it.`,
          ),
        onHostChange: (isThere) =>
          cli.output.writeMessage(isThere ? "The host is back." : "The host does not answer; waiting for it."),
        async reconnect() {
          const found = await connectIfRunning(cli).catch(() => undefined);
          if (found) client = createClient({ ...found, retryTimeoutMs: hostTimeoutMs });
        },
      });
      if (isAlike) return;
      cli.output.writeMessage("They are not alike yet; what is missing is made good when it is started again.");
      cli.setExitCode(exitCodes.interrupted);
    });
}

const formatFileCount = (count: number) => (count === 1 ? "1 file" : `${count} files`);

/** Makes it where it is not there yet. */
async function resolveFolder(cli: Cli, given: string): Promise<string> {
  const path = resolve(cli.cwd, given);
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw fail("bad_request", `“${given}” cannot be made: ${error.message}.`);
  });
  if (!(await stat(path)).isDirectory()) throw fail("bad_request", `“${given}” is not a folder.`);
  const folder = await realpath(path);
  const home = await realpath(locateHome(cli.env).path).catch(() => locateHome(cli.env).path);
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(outer + sep);
  if (folder === parse(folder).root || folder === (await realpath(homedir()).catch(homedir)))
    throw fail("bad_request", "That is everything you have; give a folder of its own.");
  if (isWithin(folder, home) || isWithin(home, folder))
    throw fail("bad_request", "The data folder lies there; give another folder.");
  return folder;
}

function printEvent({ output }: Cli, event: SyncEvent): void {
  if (output.isJson) return output.writeJsonLine(event);
  const { did, path, from, beside, why } = event;
  const reason =
    why ?? (did === "conflict" ? "both sides have changed it" : from === undefined ? undefined : `it was ${from}`);
  const other = beside === undefined ? "" : `; the other one is ${beside}`;
  const line = sanitizeIndented(
    `${did.padEnd(13)} ${path}${reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`}${other}`,
  );
  if (did === "conflict" || did === "left" || did === "kept") output.writeMessage(line);
  else output.writeText(line);
}
