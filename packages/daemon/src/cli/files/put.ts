import { stat } from "node:fs/promises";
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
import { formatChanges, formatReason, formatSize } from "./format.ts";
import { readLocalFile } from "./read-local.ts";

interface PutFlags {
  branch?: string;
  new?: boolean;
}

export function addPut(group: Command, cli: Cli): void {
  group
    .command("put")
    .description("upload a file or folder as one version")
    .argument("<target>", targetHelp)
    .argument("<path>", "path in the workspace")
    .argument(
      "[local]",
      "local file or folder; - reads stdin (default: <path>, stored under its basename if it is outside the working folder)",
    )
    .option("--new", "fail if the file already exists")
    .addOption(createBranchOption())
    .addHelpText(
      "after",
      formatExamples(
        ["files put alice notes.md", ""],
        ["files put alice data/in.csv ~/Downloads/in.csv", ""],
        ["date | thinkery files put alice now.txt -", ""],
        ["files put alice src ./src", "skips .git, node_modules and ignored files"],
      ),
    )
    .action(async (text: string, given: string, local: string | undefined, flags: PutFlags) => {
      const from = local ?? given;
      const path = local === undefined ? toWorkspacePath(cli, given) : given;
      if (from !== "-" && (await isFolder(cli, from))) return putFolder(cli, text, parseFolderPath(path), from, flags);
      const filePath = parseFilePath(path);
      const bytes = await readLocalFile(cli, from);
      const { agent } = await connectToAgent(cli, text);
      const file = await agent.putFile(filePath, bytes, {
        ...(flags.branch === undefined ? {} : { branch: flags.branch }),
        ...(flags.new ? { isNew: true } : {}),
      });
      cli.output.reply(file, () => `Wrote ${file.path} (${formatSize(file.size)}) as version ${file.version}.`);
    });
}

/** A local path that is not valid in a workspace, such as an absolute one, is reduced to its basename. */
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
    .description("upload the files of a zip archive as one version")
    .argument("<target>", targetHelp)
    .argument("<zip>", "local zip file; - reads stdin")
    .option("--replace", "delete files that are not in the archive")
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
  if (isNew) throw fail("bad_request", "--new only works with a single file.");
  const files = await readFolder(cli, from, to);
  const { agent } = await connectToAgent(cli, text);
  if (files.length === 0) throw fail("bad_request", `“${from}” contains no files to upload.`);
  const zip = await buffer(zipFiles(files, (data) => deflateRawSync(data, { level: 3 })));
  const result = await agent.putArchive(zip, branch === undefined ? {} : { branch }).catch((error: unknown) => {
    if (!isThinkeryError(error) || error.code !== "too_large") throw error;
    throw fail("too_large", `${error.message} To upload in parts, use \`thinkery files sync --once\`.`);
  });
  printResult(cli, result);
}

/** Reads the files of a local folder, with their paths in the workspace. */
async function readFolder(cli: Cli, from: string, to: string | undefined): Promise<ZipEntry[]> {
  const root = resolve(cli.cwd, from);
  const { files, skipped } = await scanFolder(root);
  for (const { path, reason } of skipped) cli.output.writeNote(`skipped ${path} (${formatReason(reason)})`);
  const entries: ZipEntry[] = [];
  for (const [path, { mtimeMs }] of files) {
    const content = await readContent(root, path, maxFileBytes);
    if (!content) throw fail("bad_request", `Cannot read “${from}/${path}”, or it is too large.`);
    entries.push({
      path: parseFilePath(to === undefined ? path : `${to}/${path}`),
      data: content.bytes,
      modifiedAt: new Date(mtimeMs),
    });
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function printResult(cli: Cli, result: CommitResponse): void {
  const { version } = result;
  cli.output.reply(result, () =>
    version ? `Version ${version.id}: ${formatChanges(version.changes, version.more)}.` : "Already up to date.",
  );
}

async function isFolder(cli: Cli, local: string): Promise<boolean> {
  return stat(resolve(cli.cwd, local)).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
