import { type AgentTarget, fail } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { formatFailure } from "./lines.ts";
import { Printer } from "./printer.ts";
import { openTalk } from "./socket.ts";
import { Transcript } from "./transcript.ts";

/** Shows an agent's last messages and what comes, until the process ends. */
export function followAgent(cli: Cli, connection: Connection, target: AgentTarget, lines: number): Promise<never> {
  const printer = new Printer(cli.output);
  const transcript = new Transcript(printer);
  let known = false;
  let lost = false;
  return new Promise((_, reject) => {
    openTalk(connection, target, {
      onFrame: (frame) => {
        if (frame.type === "history") {
          if (!known) transcript.skip(frame.messages.slice(0, Math.max(0, frame.messages.length - lines)));
          known = true;
          transcript.catchUp(frame.messages);
        } else if (frame.type === "task-queued") transcript.addMessages(frame.messages);
        else if (frame.type === "task-complete") printer.end();
        else if (frame.type === "task-failed") printer.writeLine(formatFailure({ message: frame.error }));
        else if (frame.type === "task-canceled") printer.writeLine("The turn was canceled.");
        else transcript.handleFrame(frame);
      },
      onConnection: (state, reason) => {
        if (state === "refused") return reject(fail("forbidden", reason ?? "The host refuses the connection."));
        if (state === "open" && lost) printer.writeLine("Connected again.");
        if (state === "lost" && !lost) printer.writeLine("The connection is lost; trying again.");
        lost = state === "lost";
      },
    }).catch(reject);
  });
}
