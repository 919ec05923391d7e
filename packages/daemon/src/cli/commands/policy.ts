import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { fail, type Policy } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { ParseError } from "jsonc-parser";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseAgencyTarget } from "../target.ts";

export function addPolicy(program: Command, cli: Cli): void {
  const group = program.command("policy").description("show and set the rules for all agents of an agency");

  group
    .command("show")
    .description("show the rules; deny wins over ask, ask over allow")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText(
      "after",
      formatExamples(["policy show", ""], ["thinkery policy show @review --json > rules.json", "for `policy set`"]),
    )
    .action(async (text: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, text);
      const { client } = await connect(cli);
      const policy = await withRetry((signal) => client.call("getPolicy", { params: { agency }, signal }));
      cli.output.reply(policy, () => formatRules(cli, policy, agency));
    });

  group
    .command("set")
    .description("replace the rules with those of a file")
    .argument("[agency]", "agency, as @review (default: @global)")
    .argument("[file]", 'JSON or JSONC, {"rules": [{"tool", "match"?, "agent"?, "action"}]}; stdin if omitted or -')
    .addHelpText(
      "after",
      formatExamples(
        ["policy set rules.jsonc", ""],
        ["policy set @review rules.jsonc", ""],
        [`echo '[{"tool": "bash", "match": "rm *", "action": "ask"}]' | thinkery policy set`, ""],
      ),
    )
    .action(async (first: string | undefined, second: string | undefined) => {
      const isAgency = first?.startsWith("@") === true;
      if (!isAgency && second !== undefined)
        throw fail("bad_request", `“${first}” is not an agency; write it as @${first}.`);
      const { agency } = parseAgencyTarget(cli, isAgency ? first : undefined);
      const body = await readRules(cli, (isAgency ? second : first) ?? "-");
      const { client } = await connect(cli);
      const policy = await client.call("putPolicy", { params: { agency }, body });
      cli.output.reply(policy, () => formatRules(cli, policy, agency));
    });
}

function formatRules(cli: Cli, { rules }: Policy, agency: string): string {
  if (rules.length === 0) return `${agency} has no rules. Blueprints may have their own.`;
  const rows = rules.map(({ tool, match, agent, action }) => [action, tool, match ?? "every call", agent ?? "all"]);
  return cli.output.formatTable(["ACTION", "TOOL", "MATCHING", "AGENT"], rows);
}

/** Reads rules from a file or stdin. Their schema is checked by the host. */
async function readRules(cli: Cli, file: string): Promise<Policy> {
  if (file === "-" && process.stdin.isTTY)
    throw fail("bad_request", "Missing rules. Pass a file, or pipe them to stdin.");
  const text =
    file === "-"
      ? await readText(process.stdin)
      : await readFile(resolve(cli.cwd, file), "utf8").catch((error: NodeJS.ErrnoException) => {
          throw fail("bad_request", `Cannot read ${file} (${error.code}).`);
        });
  const errors: ParseError[] = [];
  const { parse } = await import("jsonc-parser");
  const value = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true }) as Policy | Policy["rules"];
  if (errors.length > 0) throw fail("bad_request", `${file === "-" ? "The input" : file} is not valid JSON.`);
  return Array.isArray(value) ? { rules: value } : value;
}
