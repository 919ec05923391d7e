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
import { formatReason } from "./format.ts";
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

/** After this time without a response, the host is looked up again: it may have restarted at another address. */
const hostTimeoutMs = 3000;

export function addSync(group: Command, cli: Cli): void {
  group
    .command("sync")
    .description("sync a local folder with an agent's files until Ctrl+C")
    .argument("<target>", targetHelp)
    .argument("[folder]", "local folder; .git, node_modules and ignored files are skipped", ".")
    .option("--once", "sync once and exit")
    .option("--force", "propagate deletions even if most files are gone from one side")
    .addOption(createBranchOption())
    .addHelpText("after", formatExamples(["files sync alice ./project", ""], ["files sync alice ./project --once", ""]))
    .action(async (text: string, given: string, { once = false, force = false, branch }: SyncFlags) => {
      const folder = await resolveFolder(cli, given);
      const { target, connection } = await connectToAgent(cli, text);
      let { url } = connection;
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
      const signal = stopOnInterrupt(cli, () =>
        cli.output.writeMessage("Stopping… Press Ctrl+C again to quit immediately."),
      );
      if (once) {
        const unsynced = await syncOnce({ mirror, force, signal });
        if (unsynced === undefined && signal.aborted) return cli.setExitCode(exitCodes.interrupted);
        if (unsynced === undefined)
          throw fail("conflict", "The sync did not finish because files keep changing. Try again.");
        if (unsynced > 0)
          throw fail("conflict", `${formatFileCount(unsynced)} could not be synced; all others are in sync.`);
        return;
      }
      const isInSync = await keepSynced({
        folder,
        mirror,
        remote,
        signal,
        force,
        onSynced: (unsynced) =>
          cli.output.writeMessage(
            `${given} and ${target.agent}@${target.agency} are in sync${unsynced > 0 ? ` except for ${formatFileCount(unsynced)}` : ""}, watching for changes. Press Ctrl+C to stop.`,
          ),
        onHostChange: (isAvailable) =>
          cli.output.writeMessage(
            isAvailable
              ? "Reconnected to the host."
              : `Lost the connection to the host at ${url}; waiting for it. Start it with \`thinkery start\` if it is stopped.`,
          ),
        async reconnect() {
          const found = await connectIfRunning(cli).catch(() => undefined);
          if (!found) return;
          url = found.url;
          client = createClient({ ...found, retryTimeoutMs: hostTimeoutMs });
        },
      });
      if (isInSync) return;
      cli.output.writeMessage("Not everything is in sync yet. Run the command again to finish.");
      cli.setExitCode(exitCodes.interrupted);
    });
}

const formatFileCount = (count: number) => (count === 1 ? "1 file" : `${count} files`);

/** Creates the folder if necessary; rejects unsafe ones. */
async function resolveFolder(cli: Cli, given: string): Promise<string> {
  const path = resolve(cli.cwd, given);
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw fail("bad_request", `Cannot create “${given}”: ${error.message}.`);
  });
  if (!(await stat(path)).isDirectory()) throw fail("bad_request", `“${given}” is not a folder.`);
  const folder = await realpath(path);
  const home = await realpath(locateHome(cli.env).path).catch(() => locateHome(cli.env).path);
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(outer + sep);
  if (folder === parse(folder).root || folder === (await realpath(homedir()).catch(homedir)))
    throw fail(
      "bad_request",
      `Refusing to sync ${folder === parse(folder).root ? "the root folder" : "your home folder"}. Choose a subfolder.`,
    );
  if (isWithin(folder, home) || isWithin(home, folder))
    throw fail(
      "bad_request",
      `Refusing to sync “${given}”: it overlaps the data folder ${home}. Choose another folder.`,
    );
  return folder;
}

const labels: Record<SyncEvent["action"], string> = {
  uploaded: "uploaded",
  downloaded: "downloaded",
  "deleted-local": "deleted local",
  "deleted-remote": "deleted remote",
  "moved-remote": "moved remote",
  conflict: "conflict",
  restored: "restored",
  skipped: "skipped",
};

function printEvent({ output }: Cli, event: SyncEvent): void {
  if (output.isJson) return output.writeJsonLine(event);
  const { action, path, from, conflictCopy } = event;
  const reason = event.reason ?? (action === "conflict" ? "both sides changed it" : undefined);
  const notes = [
    ...(reason === undefined ? [] : [formatReason(reason)]),
    ...(conflictCopy === undefined || reason?.includes(conflictCopy)
      ? []
      : [`the other version is saved as ${conflictCopy}`]),
  ].join("; ");
  const line = sanitizeIndented(
    `${labels[action].padEnd(14)} ${from === undefined ? "" : `${from} -> `}${path}${notes === "" ? "" : ` (${notes})`}`,
  );
  if (action === "conflict" || action === "skipped" || action === "restored") output.writeMessage(line);
  else output.writeText(line);
}
