import type { Command } from "commander";
import { hasDisplay, openBrowser } from "../browser.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { createLoginLink } from "../link.ts";

export function addOpen(program: Command, cli: Cli): void {
  program
    .command("open")
    .description("print a single-use login link and open it in the browser")
    .option("--print", "only print the link")
    .option("--read-only", "a login that can view everything and change nothing")
    .addHelpText(
      "after",
      formatExamples(
        ["open", ""],
        ["open --print", "for a browser on another machine"],
        ["open --print --read-only", "to show your agents to somebody"],
      ),
    )
    .action(async ({ print, readOnly }: { print?: boolean; readOnly?: boolean }) => {
      const connection = await connect(cli);
      const link = await createLoginLink(connection, readOnly ? { scopes: ["read"] } : {});
      cli.output.reply({ url: connection.url, login: link }, () => link);
      if (print || !cli.isInteractive || cli.output.isJson || !hasDisplay(cli.env)) return;
      if (!(await openBrowser(link)))
        cli.output.writeMessage("Could not open a browser. Open the link yourself; it works once.");
    });
}
