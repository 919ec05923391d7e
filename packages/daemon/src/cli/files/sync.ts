import { mkdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { parse, resolve, sep } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import type { Cli } from "../cli.ts";
import { connectIfRunning } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { examples } from "../help.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { harmless, printable } from "../output.ts";
import { reachAgent, targetHelp } from "./reach.ts";
import { remoteOf } from "./sync-host.ts";
import { Mirror } from "./sync-mirror.ts";
import type { SyncEvent } from "./sync-round.ts";
import { keepAlike, makeAlike } from "./sync-run.ts";
import { readState, stateFile, writeState } from "./sync-state.ts";

interface SyncFlags {
  once?: boolean;
  force?: boolean;
}

export function addSync(group: Command, cli: Cli): void {
  group
    .command("sync")
    .description("keep a folder here and the files of an agent alike, until Ctrl+C")
    .argument("<target>", targetHelp)
    .argument("[folder]", "a folder here; what .gitignore names, .git and node_modules stay out", ".")
    .option("--once", "make them alike once, and leave")
    .option("--force", "delete on one side even when most files are gone from the other")
    .addHelpText("after", examples(["files sync alice ./project", ""], ["files sync alice ./project --once", ""]))
    .action(async (text: string, given: string, { once = false, force: isSure = false }: SyncFlags) => {
      const folder = await folderOf(cli, given);
      let { agent, target } = await reachAgent(cli, text);
      const name = `${target.agent}@${target.agency}`;
      const home = locateHome(cli.env).path;
      const file = stateFile(home, folder, `${cli.env.THINKERY_URL ?? home}\0${target.agency}~${target.agent}`);
      const remote = remoteOf(() => agent);
      const mirror = new Mirror({ folder, remote, state: await readState(file), onEvent: (event) => tell(cli, event), onState: (state) => writeState(file, state) });
      const signal = stopOnInterrupt(cli, () => cli.output.say("Stopping; Ctrl+C again leaves at once."));
      if (once) {
        if (await makeAlike({ mirror, isSure, signal })) return;
        if (signal.aborted) return cli.exitWith(exitCodes.interrupted);
        throw fail("conflict", "Files are being written on one side or the other, and it does not come to an end; try again.");
      }
      const isAlike = await keepAlike({
        folder,
        mirror,
        remote,
        signal,
        isSure,
        onAlike: () => cli.output.say(`${given} and the files of ${name} are alike, and are kept so; Ctrl+C ends it.`),
        onHost: (isThere) => cli.output.say(isThere ? "The host is back." : "The host does not answer; waiting for it."),
        async reopen() {
          const found = await connectIfRunning(cli).catch(() => undefined);
          if (found) agent = found.client.agent(name);
        },
      });
      if (!isAlike) cli.exitWith(exitCodes.interrupted);
    });
}

/** Makes it where it is not there yet. */
async function folderOf(cli: Cli, given: string): Promise<string> {
  const path = resolve(cli.cwd, given);
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw fail("bad_request", `“${given}” cannot be made: ${error.message}.`);
  });
  const folder = await realpath(path);
  const home = await realpath(locateHome(cli.env).path).catch(() => locateHome(cli.env).path);
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(outer + sep);
  if (folder === parse(folder).root || folder === (await realpath(homedir()).catch(homedir))) throw fail("bad_request", "That is everything you have; give a folder of its own.");
  if (isWithin(folder, home) || isWithin(home, folder)) throw fail("bad_request", "The data folder lies there; give another folder.");
  return folder;
}

function tell({ output }: Cli, event: SyncEvent): void {
  if (output.json) return output.text(harmless(JSON.stringify(event)));
  const { did, path, beside, why } = event;
  const reason = why === undefined ? "" : `: ${why.replace(/\.$/, "")}`;
  const line = did === "conflict" ? `conflict   ${path}${reason || ": both sides have changed it"}${beside === undefined ? "" : `; the other one is ${beside}`}` : `${did.padEnd(13)} ${path}${reason}`;
  if (did === "conflict" || did === "left" || did === "kept") output.say(printable(line));
  else output.text(printable(line));
}
