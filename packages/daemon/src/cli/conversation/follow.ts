import { type AgentTarget, fail } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { formatFailure } from "./lines.ts";
import { Printer } from "./printer.ts";
import { openSocket } from "./socket.ts";
import { Transcript } from "./transcript.ts";

/** Prints an agent's last messages and follows new ones until the process ends. */
export function followAgent(cli: Cli, connection: Connection, target: AgentTarget, lines: number): Promise<never> {
  const printer = new Printer(cli.output, { waits: true });
  const transcript = new Transcript(printer);
  let hasHistory = false;
  let isLost = false;
  return new Promise((_, reject) => {
    openSocket(connection, target, {
      onFrame: (frame) => {
        if (frame.type === "history") {
          if (!hasHistory) transcript.skip(frame.messages.slice(0, Math.max(0, frame.messages.length - lines)));
          hasHistory = true;
          transcript.catchUp(frame.messages);
        } else if (frame.type === "task-queued") transcript.addMessages(frame.messages);
        else if (frame.type === "task-complete") printer.end();
        else if (frame.type === "task-failed") printer.writeLine(formatFailure({ message: frame.error }));
        else if (frame.type === "task-canceled") printer.writeLine("The turn was canceled.");
        else transcript.handleFrame(frame);
      },
      onConnection: (state, reason) => {
        if (state === "refused") return reject(fail("forbidden", reason ?? "The host refused the connection."));
        if (state === "open" && isLost) printer.writeLine("Reconnected.");
        if (state === "lost" && !isLost) printer.writeLine("Connection lost; reconnecting…");
        isLost = state === "lost";
      },
    }).catch(reject);
  });
}
