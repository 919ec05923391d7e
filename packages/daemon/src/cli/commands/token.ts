import type { Scope } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { parseDuration } from "../duration.ts";
import { formatExamples } from "../help.ts";
import { createScopeOption } from "../scope-option.ts";

interface NewTokenFlags {
  user?: string;
  scope?: Scope[];
  expires?: number;
}

export function addToken(program: Command, cli: Cli): void {
  const group = program.command("token").description("list, create and revoke access tokens");

  group
    .command("ls")
    .description("list tokens, without their secrets")
    .option("--user <name>", "only tokens of this user")
    .addHelpText("after", formatExamples(["token ls", ""]))
    .action(async ({ user }: { user?: string }) => {
      const { client } = await connect(cli);
      const { tokens } = await client.call("listTokens", { query: user === undefined ? {} : { user } });
      const rows = tokens.map((token) => [
        token.id,
        token.kind,
        token.name,
        token.user,
        token.scopes.join(","),
        token.expiresAt ?? "never",
        token.lastUsedAt ?? "-",
      ]);
      const titles = ["ID", "KIND", "NAME", "USER", "SCOPES", "EXPIRES", "LAST USED"];
      cli.output.reply({ tokens }, () => cli.output.formatTable(titles, rows));
    });

  group
    .command("new")
    .description("create a token; its secret is printed once, on stdout")
    .argument("<name>", "label of the token")
    .option("--user <name>", "user it authenticates as (default: you)")
    .addOption(createScopeOption("read"))
    .option("--expires <duration>", "lifetime, such as 12h or 30d (default: until revoked)", parseDuration)
    .addHelpText(
      "after",
      formatExamples(["token new laptop --scope read --scope chat", ""], ["token new ci --user ci --expires 30d", ""]),
    )
    .action(async (name: string, { user, scope, expires }: NewTokenFlags) => {
      const { client } = await connect(cli);
      const issued = await client.call("createToken", {
        body: {
          name,
          ...(user === undefined ? {} : { user }),
          ...(scope === undefined ? {} : { scopes: scope }),
          ...(expires === undefined ? {} : { expiresInSeconds: expires }),
        },
      });
      cli.output.reply(issued, () => issued.token);
      if (cli.output.isJson) return;
      cli.output.writeMessage(
        `Created token ${issued.id} for ${issued.user} (${issued.scopes.join(", ")}). Store it now; it will not be shown again.`,
      );
    });

  group
    .command("rm")
    .description("revoke a token immediately")
    .argument("<id>", "token id from `thinkery token ls`")
    .addHelpText("after", formatExamples(["token rm tok_123", ""]))
    .action(async (id: string) => {
      const { client } = await connect(cli);
      await client.call("revokeToken", { params: { id } });
      cli.output.reply({ revoked: id }, () => `Revoked ${id}.`);
    });
}
