import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { deflateRawSync } from "node:zlib";
import { fail, parseFilePath, parseFolderPath, isThinkeryError, type CommitResponse } from "@thinkery/sdk";
import { type ZipEntry, zipFiles } from "@thinkery/sdk/internal";
import type { Command } from "commander";
import { readContent } from "../../folder/read.ts";
import { scanFolder } from "../../folder/scan.ts";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { createBranchOption, maxFileBytes, connectToAgent, targetHelp } from "./connect-agent.ts";
import { formatChanges, formatSize } from "./format.ts";

interface PutFlags {
  branch?: string;
  new?: boolean;
}

export function addPut(group: Command, cli: Cli): void {
  group
    .command("put")
    .description("write a file, or a folder as one version")
    .argument("<target>", targetHelp)
    .argument("<path>", "where in the workspace")
    .argument("[local]", "a file or folder here; - reads stdin (default: the same path, which may be anywhere)")
    .option("--new", "only if there is no such file")
    .addOption(createBranchOption())
    .addHelpText(
      "after",
      formatExamples(
        ["files put alice notes.md", ""],
        ["files put alice data/in.csv ~/Downloads/in.csv", ""],
        ["date | thinkery files put alice now.txt -", ""],
        ["files put alice src ./src", "without .git, node_modules and what .gitignore names"],
      ),
    )
    .action(async (text: string, given: string, local: string | undefined, flags: PutFlags) => {
      const from = local ?? given;
      const path = local === undefined ? toWorkspacePath(cli, given) : given;
      if (from !== "-" && (await isFolder(cli, from))) return putFolder(cli, text, parseFolderPath(path), from, flags);
      const place = parseFilePath(path);
      const bytes = await readLocalFile(cli, from);
      const { agent } = await connectToAgent(cli, text);
      const file = await agent.putFile(place, bytes, {
        ...(flags.branch === undefined ? {} : { branch: flags.branch }),
        ...(flags.new ? { isNew: true } : {}),
      });
      cli.output.reply(file, () => `Wrote ${file.path}, ${formatSize(file.size)}, version ${file.version}.`);
    });
}

/** What is elsewhere on this machine has no such path in a workspace; it is put there under its name. */
function toWorkspacePath(cli: Cli, local: string): string {
  try {
    parseFolderPath(local);
    return local;
  } catch {
    return basename(resolve(cli.cwd, local));
  }
}

export function addUnzip(group: Command, cli: Cli): void {
  group
    .command("unzip")
    .description("write all files of a zip as one version")
    .argument("<target>", targetHelp)
    .argument("<zip>", "a zip file here; - reads stdin")
    .option("--replace", "delete the files that are not in it")
    .addOption(createBranchOption())
    .addHelpText(
      "after",
      formatExamples(["files unzip alice site.zip", ""], ["files unzip alice backup.zip --replace", ""]),
    )
    .action(async (text: string, zip: string, { replace, branch }: { replace?: boolean; branch?: string }) => {
      const bytes = await readLocalFile(cli, zip);
      const { agent } = await connectToAgent(cli, text);
      printResult(
        cli,
        await agent.putArchive(bytes, { ...(branch === undefined ? {} : { branch }), ...(replace ? { replace } : {}) }),
      );
    });
}

async function putFolder(
  cli: Cli,
  text: string,
  to: string | undefined,
  from: string,
  { branch, new: isNew }: PutFlags,
): Promise<void> {
  if (isNew) throw fail("bad_request", "--new is for one file; a folder is written over what is there.");
  const files = await readFolder(cli, from, to);
  const { agent } = await connectToAgent(cli, text);
  if (files.length === 0) throw fail("bad_request", `There is nothing in “${from}” that could be written.`);
  const zip = await buffer(zipFiles(files, (data) => deflateRawSync(data, { level: 3 })));
  const landed = await agent.putArchive(zip, branch === undefined ? {} : { branch }).catch((error: unknown) => {
    if (!isThinkeryError(error) || error.code !== "too_large") throw error;
    throw fail(
      "too_large",
      `${error.message} \`thinkery files sync --once\` sends as much as there is room for, a part at a time.`,
    );
  });
  printResult(cli, landed);
}

/** The files of a folder here, at the paths that they will have there. */
async function readFolder(cli: Cli, from: string, to: string | undefined): Promise<ZipEntry[]> {
  const root = resolve(cli.cwd, from);
  const { files, untaken } = await scanFolder(root);
  for (const { path, why } of untaken) cli.output.writeNote(`Left out ${path}: ${why}.`);
  const all: ZipEntry[] = [];
  for (const [path, { mtimeMs }] of files) {
    const content = await readContent(root, path, maxFileBytes);
    if (!content) throw fail("bad_request", `“${from}/${path}” cannot be read, or is too large.`);
    all.push({
      path: parseFilePath(to === undefined ? path : `${to}/${path}`),
      data: content.bytes,
      modifiedAt: new Date(mtimeMs),
    });
  }
  return all.sort((one, other) => (one.path < other.path ? -1 : 1));
}

function printResult(cli: Cli, landed: CommitResponse): void {
  const { version } = landed;
  cli.output.reply(landed, () =>
    version
      ? `Version ${version.id}: ${formatChanges(version.changes, version.more)}.`
      : "Everything was as it is already.",
  );
}

async function isFolder(cli: Cli, local: string): Promise<boolean> {
  return stat(resolve(cli.cwd, local)).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function readLocalFile(cli: Cli, local: string): Promise<Uint8Array> {
  if (local === "-") return readStdin();
  try {
    const path = resolve(cli.cwd, local);
    if ((await stat(path)).size <= maxFileBytes) return await readFile(path);
  } catch (error) {
    throw fail(
      "bad_request",
      `“${local}” cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`,
    );
  }
  throw createTooLargeError(`“${local}”`);
}

async function readStdin(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxFileBytes) throw createTooLargeError("What is piped in");
  }
  return Buffer.concat(pieces);
}

const createTooLargeError = (what: string) =>
  fail("too_large", `${what} is larger than anything that could be sent: ${formatSize(maxFileBytes)}.`);
