import { type FileInfo, fail, parseFolderPath } from "@thinkery/sdk";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, formatAgencyFlag } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { createVersionOption } from "../files/connect-agent.ts";
import { formatSize } from "../files/format.ts";
import { printFile } from "../files/get.ts";
import { formatWhen } from "../format-when.ts";
import { formatExamples } from "../help.ts";
import { nameHelp, withDocuments } from "./connect-documents.ts";

interface ReadFlags extends AgencyFlags {
  at?: number;
  output?: string;
}

export function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list the documents of an agency")
    .argument("[folder]", "only documents in this folder")
    .addOption(createAgencyOption())
    .addOption(createVersionOption())
    .addHelpText("after", formatExamples(["doc ls", ""], ["doc ls notes -a @review", ""]))
    .action((folder: string | undefined, { at, ...flags }: ReadFlags) =>
      withDocuments(cli, flags, async (documents, agency) => {
        const under = folder === undefined ? undefined : parseFolderPath(folder);
        const query = { ...(under === undefined ? {} : { under }), ...(at === undefined ? {} : { version: at }) };
        const files: FileInfo[] = [];
        for await (const file of documents.all(query)) files.push(file);
        if (under !== undefined && files.length === 0) {
          const hint = under.startsWith("@") ? ` For another agency, pass -a ${under}.` : "";
          throw fail("not_found", `Folder “${under}” not found in the documents of ${agency}.${hint}`);
        }
        cli.output.reply({ agency, documents: files }, () => {
          if (files.length === 0)
            return `No documents in ${agency}. Write one with \`thinkery doc write <name>${formatAgencyFlag(cli, agency)}\`.`;
          const rows = files.map(({ path, size, modifiedAt, version }) => [
            path,
            formatSize(size),
            formatWhen(modifiedAt, Date.now()),
            String(version),
          ]);
          return cli.output.formatTable(["NAME", "SIZE", "MODIFIED", "VERSION"], rows);
        });
      }),
    );
}

export function addRead(group: Command, cli: Cli): void {
  group
    .command("read")
    .description("print a document, or save it")
    .argument("<name>", nameHelp)
    .option("-o, --output <file>", "output file (default: stdout)")
    .addOption(createAgencyOption())
    .addOption(createVersionOption())
    .addHelpText(
      "after",
      formatExamples(["doc read notes.md", ""], ["doc read notes/plan.md -a @review --at 12", "at version 12"]),
    )
    .action((name: string, { at, output, ...flags }: ReadFlags) =>
      withDocuments(cli, flags, async (documents) =>
        printFile(cli, await documents.read(name, at === undefined ? {} : { version: at }), output),
      ),
    );
}
