import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { exitCodes } from "../exit.ts";
import { formatExamples } from "../help.ts";

export function addDoctor(program: Command, cli: Cli): void {
  program
    .command("doctor")
    .description("check this machine and suggest fixes")
    .addHelpText("after", formatExamples(["doctor", ""], ["doctor --json", "for scripts"]))
    .action(async () => {
      const { runChecks } = await import("../../doctor/doctor.ts");
      const findings = await runChecks({ env: cli.env, cwd: cli.cwd, version: cli.version });
      const failed = findings.filter(({ state }) => state === "fail").length;
      cli.output.reply({ ok: failed === 0, checks: findings }, () =>
        findings
          .map(({ name, state, message, fix }) => {
            const line = `${state.padEnd(4)}  ${cli.output.bold(name)}: ${message}`;
            return fix && state !== "ok" ? `${line}\n      ${cli.output.dim(`→ ${fix}`)}` : line;
          })
          .join("\n"),
      );
      if (failed > 0) cli.setExitCode(exitCodes.failed);
    });
}
