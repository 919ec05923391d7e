import { createWriteStream } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { examples } from "../help.ts";
import { harmless } from "../output.ts";
import { atOption, branchOption, type PlaceFlags, placeOf, reachAgent, targetHelp } from "./reach.ts";
import { sizeOf } from "./words.ts";

interface GetFlags extends PlaceFlags {
  output?: string;
}

export function addGet(group: Command, cli: Cli): void {
  group
    .command("get")
    .description("print a file, or save it")
    .argument("<target>", targetHelp)
    .argument("<path>", "where in the workspace")
    .option("-o, --output <file>", "save it here (default: stdout)")
    .addOption(branchOption())
    .addOption(atOption())
    .addHelpText("after", examples(["files get alice notes.md", ""], ["files get alice chart.png -o chart.png", ""], ["files get alice notes.md --at 12", "as it was"]))
    .action(async (text: string, path: string, { output: to, ...flags }: GetFlags) => {
      const { agent } = await reachAgent(cli, text);
      const { bytes, text: decoded, ...file } = await agent.file(path, placeOf(flags));
      if (to !== undefined && to !== "-") {
        await saved(to, () => writeFile(resolve(cli.cwd, to), bytes));
        return cli.output.reply({ ...file, saved: to }, () => `Saved ${file.path} to ${to}, ${sizeOf(file.size)}.`);
      }
      if (cli.output.json) return cli.output.value({ ...file, ...(file.kind === "text" ? { content: decoded() } : { base64: Buffer.from(bytes).toString("base64") }) });
      if (!cli.output.toScreen) return cli.output.bytes(bytes);
      if (file.kind === "binary") throw fail("bad_request", `“${file.path}” is not text (${sizeOf(file.size)}); save it with -o <file>.`);
      cli.output.piece(harmless(decoded()));
    });
}

interface ZipFlags extends GetFlags {
  under?: string;
}

export function addZip(group: Command, cli: Cli): void {
  group
    .command("zip")
    .description("save all files as a zip")
    .argument("<target>", targetHelp)
    .option("-o, --output <file>", "save it here; - writes to stdout (default: <agent>.zip)")
    .option("--under <folder>", "only what is in this folder")
    .addOption(branchOption())
    .addOption(atOption())
    .addHelpText("after", examples(["files zip alice", ""], ["files zip alice -o backup.zip --at 12", ""]))
    .action(async (text: string, { output: given, under, ...flags }: ZipFlags) => {
      const { agent, target } = await reachAgent(cli, text);
      if (given === "-" && cli.output.toScreen) throw fail("bad_request", "A zip is nothing for a screen; save it with -o <file>.");
      const stream = await agent.archive({ ...placeOf(flags), ...(under === undefined ? {} : { under }) });
      if (given === "-") {
        for await (const piece of stream as NodeReadableStream<Uint8Array>) cli.output.bytes(piece);
        return;
      }
      const to = given ?? `${target.agent}.zip`;
      const path = resolve(cli.cwd, to);
      // What was not asked for by its name is not overwritten.
      const file = createWriteStream(path, { flags: given === undefined ? "wx" : "w" });
      await saved(to, () => pipeline(Readable.fromWeb(stream as NodeReadableStream<Uint8Array>), file), () => rm(path, { force: true }));
      cli.output.reply({ agent: target.agent, agency: target.agency, saved: to, bytes: file.bytesWritten }, () => `Saved ${target.agent}'s files to ${to}, ${sizeOf(file.bytesWritten)}.`);
    });
}

async function saved(to: string, write: () => Promise<void>, undo?: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw fail("conflict", `“${to}” is there already; say where with -o <file>.`);
    await undo?.();
    if (code?.startsWith("E")) throw fail("bad_request", `“${to}” cannot be written: ${message}.`);
    throw fail("unavailable", "The host’s answer was cut off; try again.");
  }
}
