import { type ChannelMessage, type ChannelTarget, isThinkeryError } from "@thinkery/sdk";
import { ChangeSignal } from "../change-signal.ts";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { readSince } from "./messages.ts";
import { watchTeam } from "./watch-team.ts";

interface FollowOptions {
  target: ChannelTarget;
  thread?: string;
  /** The last known message. Without one, all are new. */
  after: string | undefined;
  onMessage(message: ChannelMessage): void;
}

/** Frames may be lost with a connection, so what is new is read again from time to time. */
const maxQuietMs = 30_000;
const retryMs = 1000;

/** Calls `onMessage` with each new message of a channel until the process ends. */
export async function followChannel(
  cli: Cli,
  connection: Connection,
  { target, thread, after, onMessage }: FollowOptions,
): Promise<never> {
  const changes = new ChangeSignal();
  let isLost = false;
  await watchTeam(connection, target.agency, {
    onChange: (frame) => {
      if (frame === undefined || frame.type === "message") changes.set();
    },
    onConnection: (isConnected) => {
      if (!isConnected && !isLost) cli.output.writeNote("Connection lost; reconnecting…");
      if (isConnected && isLost) cli.output.writeNote("Reconnected.");
      isLost = !isConnected;
    },
  });
  const never = new AbortController().signal;
  for (let last = after; ; await changes.wait(isLost ? retryMs : maxQuietMs, never)) {
    changes.clear();
    const filter = { ...(thread === undefined ? {} : { thread }), ...(last === undefined ? {} : { since: last }) };
    const messages = await readSince(connection.client, target, filter).catch(ignoreUnavailable);
    for (const message of messages) onMessage(message);
    last = messages.at(-1)?.id ?? last;
  }
}

function ignoreUnavailable(error: unknown): ChannelMessage[] {
  if (isThinkeryError(error) && error.code === "unavailable") return [];
  throw error;
}
