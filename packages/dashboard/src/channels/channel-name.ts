import type { Channel } from "@thinkery/sdk";

/** Who else is in a direct channel, as its reader would say: `bob`, or `bob and eve` if the reader is in neither. */
export function getChannelTitle(channel: Pick<Channel, "name" | "kind" | "members">, reader: string): string {
  if (channel.kind === "channel") return channel.name;
  const others = (channel.members ?? []).filter((member) => member !== reader);
  return others.length > 0 ? others.join(" and ") : channel.name;
}

/** Others than its members cannot write in a direct channel. */
export function canWriteTo({ kind, members = [] }: Pick<Channel, "kind" | "members">, user: string): boolean {
  return kind === "channel" || members.includes(user);
}

/** Finds a channel by its name, in any case. `@bob` is the direct channel between the reader and bob. */
export function findChannel(channels: readonly Channel[], name: string, reader: string): Channel | undefined {
  const wanted = name.toLowerCase();
  const found = channels.find((channel) => channel.name.toLowerCase() === wanted);
  if (found || !name.startsWith("@")) return found;
  return channels.find(({ kind, members = [] }) => {
    const others = members.filter((member) => member !== reader);
    return kind === "direct" && members.includes(reader) && others[0]?.toLowerCase() === wanted.slice(1);
  });
}

/** Named channels by their names, with the default one first; direct ones by who wrote last. */
export function sortChannels(
  channels: readonly Channel[],
  defaultName: string,
): { named: Channel[]; direct: Channel[] } {
  const named = channels.filter(({ kind }) => kind === "channel");
  const direct = channels.filter(({ kind }) => kind === "direct");
  const rank = ({ name }: Channel) => (name === defaultName ? 0 : 1);
  return {
    named: named.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en", { numeric: true })),
    direct: direct.sort((a, b) => (b.lastMessageAt ?? "").localeCompare(a.lastMessageAt ?? "")),
  };
}
