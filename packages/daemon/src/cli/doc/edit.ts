import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fail, parseFilePath } from "@thinkery/sdk";
import type { Documents, OpenFile } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { formatConflicts } from "../files/format.ts";
import { formatExamples } from "../help.ts";
import { editText } from "../waits/editor.ts";
import { nameHelp, withDocuments } from "./connect-documents.ts";
import { ignoreMissing, isConflict, printWritten } from "./write.ts";

export function addEdit(group: Command, cli: Cli): void {
  group
    .command("edit")
    .description("edit a document in $EDITOR; what others change meanwhile is merged")
    .argument("<name>", nameHelp)
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["doc edit notes.md", ""], ["doc edit plan.md -a @review", ""]))
    .action((name: string, flags: AgencyFlags) =>
      withDocuments(cli, flags, async (documents) => {
        const path = parseFilePath(name);
        const before = await documents.read(path).catch(ignoreMissing);
        if (before?.kind === "binary")
          throw fail("bad_request", `“${path}” is a binary file. Get it with doc read -o.`);
        const text = before?.text() ?? "";
        const edited = await editText(cli.env, text, basename(path));
        if (edited === text) return cli.output.reply({ path, changed: false }, () => "Nothing was changed.");
        await save(cli, documents, path, before, edited).catch(async (error: unknown) => {
          cli.output.writeMessage(`Your text is in ${await rescue(path, edited)}.`);
          throw error;
        });
      }),
    );
}

/** Writes an edited document. If it changed meanwhile, both changes are merged. */
async function save(
  cli: Cli,
  documents: Documents,
  path: string,
  before: OpenFile | undefined,
  content: string,
): Promise<void> {
  try {
    return printWritten(cli, await documents.write(path, content, before ? { ifMatch: before.hash } : { isNew: true }));
  } catch (error) {
    if (!isConflict(error) || !before) throw error;
  }
  const { version, overlaps } = await documents.edit([{ write: path, content }], { base: before.version });
  cli.output.reply({ path, version, overlaps }, () => {
    const done = `Merged with what others changed meanwhile${version ? `, as version ${version.id}` : ""}.`;
    return [done, ...formatConflicts(overlaps)].join("\n");
  });
}

/** Saves a text that could not be stored. */
async function rescue(path: string, text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "thinkery-edit-")), basename(path));
  await writeFile(file, text, { mode: 0o600 });
  return file;
}
