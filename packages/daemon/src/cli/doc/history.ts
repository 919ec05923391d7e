import { fail } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { describeMerge } from "../commands/revert.ts";
import { formatVersion, formatVersions } from "../commands/versions.ts";
import { confirm } from "../confirm.ts";
import { parsePositiveInteger } from "../files/parse-positive-integer.ts";
import { formatExamples } from "../help.ts";
import { nameHelp, toDocumentPath, withDocuments } from "./connect-documents.ts";

interface VersionsFlags extends AgencyFlags {
  limit: number;
  before?: number;
}

export function addVersions(group: Command, cli: Cli): void {
  group
    .command("versions")
    .description("show the versions of the documents, newest first")
    .argument("[name]", "only versions that changed this document or folder")
    .addOption(new Option("--limit <number>", "maximum number of entries").argParser(parsePositiveInteger).default(20))
    .addOption(new Option("--before <number>", "only versions older than this one").argParser(parsePositiveInteger))
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["doc versions", ""], ["doc versions plan.md -a @review", ""]))
    .action((name: string | undefined, { limit, before, ...flags }: VersionsFlags) =>
      withDocuments(cli, flags, async (documents, agency) => {
        const found = await documents.versions({
          limit: Math.min(limit, 200),
          ...(before === undefined ? {} : { before }),
          ...(name === undefined ? {} : { path: toDocumentPath(name) }),
        });
        cli.output.reply(found, () => {
          if (found.versions.length > 0) return formatVersions(cli, found);
          return name === undefined
            ? `The documents of ${agency} have no versions yet.`
            : `No version changed “${name}”.`;
        });
      }),
    );
}

export function addDiff(group: Command, cli: Cli): void {
  group
    .command("diff")
    .description("show what a version changed")
    .argument("<version>", "version number", parsePositiveInteger)
    .argument("[name]", "only this document or folder")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["doc diff 12", ""], ["doc diff 12 plan.md -a @review", ""]))
    .action((id: number, name: string | undefined, flags: AgencyFlags) =>
      withDocuments(cli, flags, async (documents) => {
        const version = await documents.version(id, name === undefined ? {} : { path: toDocumentPath(name) });
        cli.output.reply(version, () => formatVersion(cli, version));
      }),
    );
}

interface RevertFlags extends AgencyFlags {
  turn?: string;
  call?: string;
  dryRun?: boolean;
}

export function addRevert(group: Command, cli: Cli): void {
  group
    .command("revert")
    .description("revert the changes of a version, a turn or a tool call")
    .argument("[version]", "version number from `doc versions`", parsePositiveInteger)
    .option("--turn <id>", "revert all changes of this turn")
    .option("--call <id>", "revert all changes of this tool call")
    .option("--dry-run", "show what would change without changing anything")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(["doc revert 12", ""], ["doc revert --turn 5fa3c1d0 -a @review --dry-run", "preview the changes"]),
    )
    .action((version: number | undefined, { turn, call, dryRun = false, ...flags }: RevertFlags) => {
      const selectors = Object.entries({ version, turn, toolCall: call }).filter(([, value]) => value !== undefined);
      if (selectors.length !== 1)
        throw fail("bad_request", "Specify what to revert: a version, --turn <id> or --call <id>.");
      return withDocuments(cli, flags, async (documents) => {
        const merged = await documents.revert({ ...Object.fromEntries(selectors), ...(dryRun ? { dryRun } : {}) });
        cli.output.reply(merged, () =>
          describeMerge(merged, dryRun, "Reverted", "Nothing to revert: those changes are no longer present."),
        );
      });
    });
}

interface RemoveFlags extends AgencyFlags {
  recursive?: boolean;
  yes?: boolean;
}

export function addRemove(group: Command, cli: Cli): void {
  group
    .command("rm")
    .description("delete a document; undo with `thinkery doc revert`")
    .argument("<name>", nameHelp)
    .option("-r, --recursive", "delete a folder and its documents")
    .option("-y, --yes", "skip confirmation")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["doc rm notes.md", ""], ["doc rm -r notes -a @review --yes", ""]))
    .action((name: string, { recursive, yes, ...flags }: RemoveFlags) => {
      const path = toDocumentPath(name);
      return withDocuments(cli, flags, async (documents, agency) => {
        if (!yes) await confirm(cli, `Delete ${path} of the documents of ${agency}?`);
        await documents.delete(path, recursive ? { recursive } : {});
        cli.output.reply({ deleted: path, agency }, () => `Deleted ${path}.`);
      });
    });
}

export function addMove(group: Command, cli: Cli): void {
  group
    .command("mv")
    .description("move or rename a document or folder")
    .argument("<from>", "current name")
    .argument("<to>", "new name; with a trailing slash, the target folder")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["doc mv draft.md plan.md", ""], ["doc mv plan.md done/ -a @review", ""]))
    .action((from: string, to: string, flags: AgencyFlags) => {
      const move = toDocumentPath(from);
      const edit = { move, to: toDocumentPath(to.endsWith("/") ? to + move.slice(move.lastIndexOf("/") + 1) : to) };
      return withDocuments(cli, flags, async (documents) => {
        const { version } = await documents.edit([edit]);
        cli.output.reply({ ...edit, version: version?.id }, () => `Moved ${edit.move} to ${edit.to}.`);
      });
    });
}
