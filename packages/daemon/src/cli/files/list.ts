import { fail, type FileInfo, folderPath } from "@thinkery/sdk";
import type { AgentHandle } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { examples } from "../help.ts";
import { atOption, branchOption, type PlaceFlags, placeOf, reachAgent, targetHelp } from "./reach.ts";
import { sizeOf, whoOf } from "./words.ts";

export function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list the files of an agent")
    .argument("<target>", targetHelp)
    .argument("[folder]", "only what is in this folder")
    .addOption(branchOption())
    .addOption(atOption())
    .addHelpText("after", examples(["files ls alice", ""], ["files ls alice src", ""], ["files ls alice --at 12", "as they were"]))
    .action(async (text: string, folder: string | undefined, flags: PlaceFlags) => {
      const { agent, target } = await reachAgent(cli, text);
      const under = folder === undefined ? undefined : folderPath(folder);
      const files: FileInfo[] = [];
      for await (const file of agent.allFiles({ ...placeOf(flags), ...(under === undefined ? {} : { under }) })) files.push(file);
      if (under !== undefined && files.length === 0) throw fail("not_found", `${target.agent} has nothing in “${under}”.`);
      if (cli.output.json) return cli.output.value({ files });
      const writers = files.length > 0 ? await writersOf(agent, flags.branch) : new Map<number, string>();
      cli.output.reply({ files }, () => {
        if (files.length === 0) return `${target.agent} has no files; \`thinkery files put\` adds some.`;
        const rows = files.map((file) => [sizeOf(file.size), file.modifiedAt, String(file.version), writers.get(file.version) ?? "-", file.path]);
        return cli.output.table(["SIZE", "MODIFIED", "VERSION", "BY", "PATH"], rows);
      });
    });
}

/** Who made the latest versions; of files that are older, their version has to do. */
async function writersOf(agent: AgentHandle, branch: string | undefined): Promise<Map<number, string>> {
  const { versions } = await agent.versions({ limit: 200, ...(branch === undefined ? {} : { branch }) });
  return new Map(versions.map(({ id, origin }) => [id, whoOf(origin)]));
}
