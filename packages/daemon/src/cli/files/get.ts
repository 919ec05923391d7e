import { resolve } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { fail } from "@thinkery/sdk";
import type { OpenFile } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { sanitize } from "../output.ts";
import {
  createVersionOption,
  createBranchOption,
  type FileFlags,
  toFileQuery,
  connectToAgent,
  targetHelp,
} from "./connect-agent.ts";
import { formatSize } from "./format.ts";
import { saveFile } from "./save.ts";

interface GetFlags extends FileFlags {
  output?: string;
}

export function addGet(group: Command, cli: Cli): void {
  group
    .command("get")
    .description("print a file, or save it")
    .argument("<target>", targetHelp)
    .argument("<path>", "path in the workspace")
    .option("-o, --output <file>", "output file (default: stdout)")
    .addOption(createBranchOption())
    .addOption(createVersionOption())
    .addHelpText(
      "after",
      formatExamples(
        ["files get alice notes.md", ""],
        ["files get alice chart.png -o chart.png", ""],
        ["files get alice notes.md --at 12", "at version 12"],
      ),
    )
    .action(async (text: string, path: string, { output: to, ...flags }: GetFlags) => {
      const { agent } = await connectToAgent(cli, text);
      await printFile(cli, await agent.file(path, toFileQuery(flags)), to);
    });
}

/** Prints a file as it is, or saves it. */
export async function printFile(
  cli: Cli,
  { bytes, text: decode, ...file }: OpenFile,
  to: string | undefined,
): Promise<void> {
  if (to !== undefined && to !== "-") {
    await saveFile(resolve(cli.cwd, to), Readable.from([bytes]), { label: to });
    return cli.output.reply({ ...file, saved: to }, () => `Saved ${file.path} to ${to} (${formatSize(file.size)}).`);
  }
  if (cli.output.isJson)
    return cli.output.writeJson({
      ...file,
      ...(file.kind === "text" ? { content: decode() } : { base64: Buffer.from(bytes).toString("base64") }),
    });
  if (!cli.output.isTTY) return cli.output.writeBytes(bytes);
  if (file.kind === "binary")
    throw fail("bad_request", `“${file.path}” is a binary file (${formatSize(file.size)}). Save it with -o <file>.`);
  cli.output.writeChunk(sanitize(decode()));
}

interface ZipFlags extends GetFlags {
  under?: string;
}

export function addZip(group: Command, cli: Cli): void {
  group
    .command("zip")
    .description("download all files as a zip archive")
    .argument("<target>", targetHelp)
    .option("-o, --output <file>", "output file; - writes to stdout (default: <agent>.zip)")
    .option("--under <folder>", "only files in this folder")
    .addOption(createBranchOption())
    .addOption(createVersionOption())
    .addHelpText("after", formatExamples(["files zip alice", ""], ["files zip alice -o backup.zip --at 12", ""]))
    .action(async (text: string, { output, under, ...flags }: ZipFlags) => {
      const { agent, target } = await connectToAgent(cli, text);
      if (output === "-" && cli.output.isTTY)
        throw fail("bad_request", "Refusing to write a zip archive to the terminal. Save it with -o <file>.");
      const stream = await agent.archive({ ...toFileQuery(flags), ...(under === undefined ? {} : { under }) });
      if (output === "-") {
        for await (const chunk of stream as NodeReadableStream<Uint8Array>) cli.output.writeBytes(chunk);
        return;
      }
      const to = output ?? `${target.agent}.zip`;
      const size = await saveFile(resolve(cli.cwd, to), Readable.fromWeb(stream as NodeReadableStream<Uint8Array>), {
        label: to,
        isNew: output === undefined,
      });
      cli.output.reply(
        { agent: target.agent, agency: target.agency, saved: to, bytes: size },
        () => `Saved ${target.agent}'s files to ${to} (${formatSize(size)}).`,
      );
    });
}
