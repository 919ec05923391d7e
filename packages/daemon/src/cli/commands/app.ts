import type { AgentTarget, AppInfo } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import { readAppFiles } from "../app-files.ts";
import { hasDisplay, openBrowser } from "../browser.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect, type Connection } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseAgentTarget } from "../target.ts";

const targetHelp = "agent, as alice or alice@review";

export function addApp(program: Command, cli: Cli): void {
  const group = program
    .command("app")
    .description("show, deploy, open and remove an agent's app")
    .argument("<target>", targetHelp)
    .addHelpText(
      "after",
      formatExamples(["app alice", "show its version and URL"], ["app put alice server.ts lib/format.ts", ""]),
    )
    .action(async (text: string) => {
      const { app, url } = await readApp(cli, parseAgentTarget(cli, text));
      showApp(cli, app, url);
    });

  group
    .command("put")
    .description("deploy an app, replacing the current one")
    .argument("<target>", targetHelp)
    .argument("<file>", "main module (JavaScript or TypeScript): export default { fetch(request) { … } }")
    .argument("[more...]", "additional modules inside the main module's folder")
    .addHelpText("after", formatExamples(["app put alice server.ts", ""], ["app put alice server.ts lib/*.ts", ""]))
    .action(async (text: string, file: string, more: string[]) => {
      const target = parseAgentTarget(cli, text);
      const body = await readAppFiles(cli.cwd, file, more);
      const connection = await connectToAgent(cli, target);
      const app = await connection.client.call("putApp", { params: toParams(target), body });
      showApp(cli, app, connection.url);
    });

  group
    .command("open")
    .description("print the app's URL and open it in the browser")
    .argument("<target>", targetHelp)
    .option("--print", "only print the URL")
    .addHelpText("after", formatExamples(["app open alice", ""]))
    .action(async (text: string, { print }: { print?: boolean }) => {
      const { app, url } = await readApp(cli, parseAgentTarget(cli, text));
      const appUrl = url + app.address;
      cli.output.reply({ ...app, url: appUrl }, () => appUrl);
      if (print || !cli.isInteractive || cli.output.isJson || !hasDisplay(cli.env)) return;
      const opened = await openBrowser(appUrl);
      cli.output.writeMessage(
        opened
          ? "The app requires a logged-in browser; log in with `thinkery open` first."
          : "Could not open a browser. Open the URL yourself.",
      );
    });

  group
    .command("rm")
    .description("remove the app")
    .argument("<target>", targetHelp)
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["app rm alice --yes", ""]))
    .action(async (text: string, { yes }: { yes?: boolean }) => {
      const target = parseAgentTarget(cli, text);
      const { client } = await connectToAgent(cli, target);
      if (!yes) await confirm(cli, `Remove the app of ${target.agent} in ${target.agency}?`);
      await client.call("deleteApp", { params: toParams(target) });
      cli.output.reply(
        { removed: target.agent, agency: target.agency },
        () => `Removed the app of ${target.agent} in ${target.agency}.`,
      );
    });
}

const toParams = ({ agency, agent }: AgentTarget) => ({ agency, agent });

async function connectToAgent(cli: Cli, target: AgentTarget): Promise<Connection> {
  const connection = await connect(cli);
  await findAgent(connection.client, target);
  return connection;
}

async function readApp(cli: Cli, target: AgentTarget): Promise<{ app: AppInfo; url: string }> {
  const { client, url } = await connectToAgent(cli, target);
  return { app: await withRetry((signal) => client.call("getApp", { params: toParams(target), signal })), url };
}

function showApp({ output }: Cli, app: AppInfo, host: string): void {
  const url = host + app.address;
  output.reply({ ...app, url }, () =>
    output.formatFields([
      ["address", url],
      ["version", app.version],
      ["modules", [app.main, ...app.modules].join(", ")],
      ["size", `${app.bytes} bytes`],
      ["set by", app.by],
      ["updated", app.updatedAt],
    ]),
  );
}
