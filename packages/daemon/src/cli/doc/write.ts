import { fail, type FileInfo, isThinkeryError, parseFilePath } from "@thinkery/sdk";
import type { Documents, OpenFile } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { formatSize } from "../files/format.ts";
import { readLocalFile } from "../files/read-local.ts";
import { formatExamples } from "../help.ts";
import { isMissing, nameHelp, withDocuments } from "./connect-documents.ts";

interface WriteFlags extends AgencyFlags {
  file?: string;
  new?: boolean;
}

const textHelp = "the text; reads stdin if omitted or -";
const maxAttempts = 10;

export function addWrite(group: Command, cli: Cli): void {
  group
    .command("write")
    .description("write a document")
    .argument("<name>", nameHelp)
    .argument("[text...]", textHelp)
    .option("--file <file>", "write the content of a local file")
    .option("--new", "fail if the document already exists")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(
        ["date | thinkery doc write now.txt", ""],
        ["doc write plan.md --file ./plan.md -a @review", ""],
        ['doc write todo.md "- Test it"', ""],
      ),
    )
    .action(async (name: string, words: string[], { file, new: isNew, ...flags }: WriteFlags) => {
      const path = parseFilePath(name);
      const content = await readContent(cli, words, file);
      const written = await withDocuments(cli, flags, (documents) =>
        documents.write(path, content, isNew ? { isNew } : {}),
      );
      printWritten(cli, written);
    });
}

export function addAppend(group: Command, cli: Cli): void {
  group
    .command("append")
    .description("add text to the end of a document, on a line of its own; creates it if it does not exist")
    .argument("<name>", nameHelp)
    .argument("[text...]", textHelp)
    .option("--file <file>", "append the content of a local file")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(['doc append log.md "Deployed."', ""], ["git log -1 | thinkery doc append log.md -a @review", ""]),
    )
    .action(async (name: string, words: string[], { file, ...flags }: WriteFlags) => {
      const path = parseFilePath(name);
      const addition = await readContent(cli, words, file);
      printWritten(cli, await withDocuments(cli, flags, (documents) => append(documents, path, addition)));
    });
}

/** Appends to what the document is now, and again if somebody else was faster. */
async function append(documents: Documents, path: string, addition: Uint8Array): Promise<FileInfo> {
  let intended: Buffer | undefined;
  for (let attempt = 1; ; attempt++) {
    const current = await documents.read(path).catch(ignoreMissing);
    // An earlier attempt succeeded, but its response was lost.
    if (current && intended?.equals(current.bytes)) return toInfo(current);
    if (current?.kind === "binary")
      throw fail("bad_request", `“${path}” is a binary file; only text can be appended to.`);
    intended = joinLines(current?.bytes, addition);
    try {
      return await documents.write(path, intended, current ? { ifMatch: current.hash } : { isNew: true });
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
  }
}

function joinLines(before: Uint8Array | undefined, addition: Uint8Array): Buffer {
  if (!before || before.length === 0) return Buffer.from(addition);
  const isOpen = before.at(-1) !== 10;
  return Buffer.concat([before, ...(isOpen ? [Buffer.from("\n")] : []), addition]);
}

/** Reads the words of the command line as a line, a local file, or stdin. */
async function readContent(cli: Cli, words: string[], file: string | undefined): Promise<Uint8Array> {
  const isStdin = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (file !== undefined && words.length > 0) throw fail("bad_request", "Pass either a text or --file.");
  if (file !== undefined) return readLocalFile(cli, file);
  if (!isStdin) return Buffer.from(`${words.join(" ")}\n`);
  if (words.length === 0 && process.stdin.isTTY)
    throw fail("bad_request", "Missing text. Pass it after the name, as --file, or pipe it to stdin.");
  return readLocalFile(cli, "-");
}

export function printWritten(cli: Cli, file: FileInfo): void {
  cli.output.reply(file, () => `Wrote ${file.path} (${formatSize(file.size)}) as version ${file.version}.`);
}

export const isConflict = (error: unknown) =>
  isThinkeryError(error) && (error.code === "precondition_failed" || error.code === "conflict");

export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

function toInfo({ path, kind, size, mediaType, hash, version, modifiedAt }: OpenFile): FileInfo {
  return { path, kind, size, mediaType, hash, version, modifiedAt };
}
