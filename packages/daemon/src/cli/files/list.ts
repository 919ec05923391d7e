import { fail, type FileInfo, parseFolderPath } from "@thinkery/sdk";
import type { AgentHandle } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import {
  createVersionOption,
  createBranchOption,
  type FileFlags,
  toFileQuery,
  connectToAgent,
  targetHelp,
} from "./connect-agent.ts";
import { formatSize, formatOrigin } from "./format.ts";

export function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list an agent's files")
    .argument("<target>", targetHelp)
    .argument("[folder]", "only files in this folder")
    .addOption(createBranchOption())
    .addOption(createVersionOption())
    .addHelpText(
      "after",
      formatExamples(["files ls alice", ""], ["files ls alice src", ""], ["files ls alice --at 12", "at version 12"]),
    )
    .action(async (text: string, folder: string | undefined, flags: FileFlags) => {
      const { agent, target } = await connectToAgent(cli, text);
      const under = folder === undefined ? undefined : parseFolderPath(folder);
      const files: FileInfo[] = [];
      for await (const file of agent.allFiles({ ...toFileQuery(flags), ...(under === undefined ? {} : { under }) }))
        files.push(file);
      if (under !== undefined && files.length === 0)
        throw fail("not_found", `Folder “${under}” not found in ${target.agent}'s files.`);
      if (cli.output.isJson) return cli.output.writeJson({ files });
      const authors = files.length > 0 ? await readAuthors(agent, flags.branch) : new Map<number, string>();
      cli.output.reply({ files }, () => {
        if (files.length === 0) return `${target.agent} has no files. Add some with \`thinkery files put\`.`;
        const rows = files.map((file) => [
          formatSize(file.size),
          file.modifiedAt,
          String(file.version),
          authors.get(file.version) ?? "-",
          file.path,
        ]);
        return cli.output.formatTable(["SIZE", "MODIFIED", "VERSION", "BY", "PATH"], rows);
      });
    });
}

/** Returns the authors of the latest 200 versions; older files show only their version. */
async function readAuthors(agent: AgentHandle, branch: string | undefined): Promise<Map<number, string>> {
  const { versions } = await agent.versions({ limit: 200, ...(branch === undefined ? {} : { branch }) });
  return new Map(versions.map(({ id, origin }) => [id, formatOrigin(origin)]));
}
