import type { PostedMessage } from "@thinkery/sdk";
import type { MessageInput } from "../api/team/message-outbox.ts";
import type { Team } from "../api/team/team.ts";

/** Posts a message, and shows it in its channel and its thread even if its frame takes a moment. */
export async function postMessage(
  team: Team,
  { channel, thread }: { channel: string; thread: string | undefined },
  input: MessageInput,
  key?: string,
): Promise<PostedMessage | undefined> {
  const posted = await team.getOutbox(channel, thread).send(input, key);
  if (!posted) return undefined;
  team.getLog({ channel: posted.channel }).add(posted);
  if (thread !== undefined) team.getLog({ channel: posted.channel, thread }).add(posted);
  // The first direct message creates the channel.
  if (posted.channel !== channel) await team.channels.reload();
  return posted;
}
