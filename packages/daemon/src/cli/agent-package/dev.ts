import { resolve } from "node:path";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { connect, connectIfRunning } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { formatExamples } from "../help.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { getDefaultAgency } from "../target.ts";
import { DevPrinter } from "./dev-printer.ts";
import { updateTypes } from "./editor-types.ts";
import { formatTarget } from "./format-deploy.ts";
import { LogFollowers } from "./log-followers.ts";
import { checkPackageFolder } from "./package-target.ts";

export function addDev(group: Command, cli: Cli): void {
  group
    .command("dev")
    .description("deploy a package and follow its log; deploy it again on each save until Ctrl+C")
    .argument("<dir>", "folder of the package")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agent dev hello", ""], ["agent dev . --json", "one line for each event"]))
    .action(async (dir: string, { agency = getDefaultAgency(cli) }: AgencyFlags) => {
      await checkPackageFolder(cli.cwd, dir);
      const { keepDeployed } = await import("./keep-deployed.ts");
      const found = await connect(cli);
      let { client } = found;
      let { url } = found;
      await updateTypes(resolve(cli.cwd, dir), cli.entry);
      const signal = stopOnInterrupt(cli, () => {});
      const end = new AbortController();
      const printer = new DevPrinter(cli.output, (name) => formatTarget(name, agency, getDefaultAgency(cli)), dir);
      const logs = new LogFollowers({
        client: () => client,
        agency,
        signal: AbortSignal.any([signal, end.signal]),
        onLine: (line) => printer.printLog(line),
        onError: (error) => printer.printFailure(error),
      });
      try {
        const isDeployed = await keepDeployed({
          cwd: cli.cwd,
          dir,
          signal,
          async deploy(body, signal) {
            await logs.prepare(body.name);
            const deploy = await client.call("deployPackage", { params: { agency }, body, signal });
            if (deploy.agent) logs.follow(deploy.agent);
            return deploy;
          },
          onDeployed: (deploy, ms) => printer.printDeploy(deploy, ms),
          onFailed: (error) => printer.printFailure(error),
          onHostChange: (isAvailable) => printer.printHostChange(isAvailable, url),
          async reconnect() {
            const again = await connectIfRunning(cli).catch(() => undefined);
            if (again) ({ client, url } = again);
          },
        });
        if (!isDeployed) cli.setExitCode(exitCodes.interrupted);
      } finally {
        end.abort();
      }
    });
}
