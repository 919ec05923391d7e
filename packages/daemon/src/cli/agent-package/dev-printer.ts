import { type AgentLogLine, type Deploy, isThinkeryError, toErrorBody } from "@thinkery/sdk";
import { type Output, sanitizeIndented } from "../output.ts";
import { asksForMore, formatDeploy } from "./format-deploy.ts";

/** Prints what happens: a line for each deploy and each line of the log. */
export class DevPrinter {
  readonly #output: Output;
  readonly #toTarget: (name: string) => string;
  readonly #dir: string;
  #isFirst = true;
  #warnings: readonly string[] = [];

  constructor(output: Output, toTarget: (name: string) => string, dir: string) {
    this.#output = output;
    this.#toTarget = toTarget;
    this.#dir = dir;
  }

  printDeploy(deploy: Deploy, ms: number): void {
    const output = this.#output;
    const { name, version, isNew, added, warnings } = deploy;
    if (output.isJson) return output.writeJsonLine({ event: "deployed", ...deploy, ms: Math.round(ms) });
    const what = isNew ? `Deployed ${name} version ${version}` : `${name} is unchanged: version ${version}`;
    if (this.#isFirst) {
      output.writeText(formatDeploy(output, deploy, this.#toTarget(name)));
      output.writeMessage(sanitizeIndented(`Watching ${this.#dir} for changes. Press Ctrl+C to stop.`));
    } else {
      output.writeText(sanitizeIndented(`${formatTime(new Date())} ${what} (${Math.round(ms)} ms).`));
      if (asksForMore(deploy))
        output.writeMessage(`This version asks for more than the one before: ${added.join(", ")}`);
    }
    this.#isFirst = false;
    // Only what is new: the same warning after each save would hide the others.
    for (const warning of warnings.filter((text) => !this.#warnings.includes(text)))
      output.writeMessage(sanitizeIndented(`warning: ${warning}`));
    this.#warnings = warnings;
  }

  printFailure(error: Error): void {
    const output = this.#output;
    if (!output.isJson || !isThinkeryError(error)) return output.writeError(error);
    output.writeJsonLine({ event: "failed", ...toErrorBody(error) });
  }

  printLog(line: AgentLogLine): void {
    if (this.#output.isJson) return this.#output.writeJsonLine({ event: "log", ...line });
    const { at, level, text } = line;
    this.#output.writeText(sanitizeIndented(`${formatTime(new Date(at))} ${level.padEnd(5)} ${text}`));
  }

  printHostChange(isAvailable: boolean, url: string): void {
    const output = this.#output;
    if (output.isJson) return output.writeJsonLine({ event: isAvailable ? "connected" : "disconnected" });
    output.writeMessage(
      isAvailable
        ? "Reconnected to the host."
        : `Lost the connection to the host at ${url}; waiting for it. Start it with \`thinkery start\` if it is stopped.`,
    );
  }
}

function formatTime(date: Date): string {
  return date.toTimeString().slice(0, 8);
}
