import { type Agency, type Channel, defaultChannel } from "@thinkery/sdk";
import { useEffect, useMemo, useRef } from "react";
import { useHasScope } from "../api/login.ts";
import type { Pages } from "../api/pages.ts";
import { useSource } from "../api/source.ts";
import { useStore } from "../api/store.ts";
import { useTeam } from "../api/team/team.ts";
import { buildChannelPath, type ChannelsPlace } from "../frame/navigation.ts";
import { useKeepFocus } from "../frame/use-keep-focus.ts";
import { Notice } from "../parts/notice.tsx";
import "../styles/whole.css";
import "../styles/channels.css";
import { markRead } from "../team/unread.ts";
import { ChannelList } from "./channel-list.tsx";
import { findChannel } from "./channel-name.ts";
import { ChannelPane } from "./channel-pane.tsx";
import { ChannelsProvider, type OpenChannels } from "./channels-context.ts";
import { ThreadPanel } from "./thread-panel.tsx";

interface ChannelsViewProps {
  user: string;
  agency: Agency;
  place: ChannelsPlace;
}

/** The channels of an agency: what its agents and people write to each other. */
export function ChannelsView({ user, agency, place }: ChannelsViewProps) {
  const team = useTeam(agency.id);
  const { agents } = useStore(team.roster);
  const { value, error } = useSource(team.channels);
  const canWrite = useHasScope("chat", agency.id);
  const agentNames = useNames(agents);
  const open = useMemo<OpenChannels>(
    () => ({
      user,
      agency: agency.id,
      team,
      canWrite,
      agents: agentNames,
      names: new Set([...agentNames, user]),
      to: (place) => buildChannelPath(agency.id, place),
    }),
    [user, agency.id, team, canWrite, agentNames],
  );

  const channels = value?.items;
  useEffect(() => {
    if (channels) markRead(user, agency.id, channels);
  }, [user, agency.id, channels]);

  if (!channels) {
    if (!error) return <p className="view faint">Loading…</p>;
    return (
      <div className="view">
        <Notice tone="bad" title="Failed to load the channels" onRetry={() => void team.channels.reload()}>
          {error.message}
        </Notice>
      </div>
    );
  }
  return <Channels agencyName={agency.name} pages={value} place={place} open={open} />;
}

interface ChannelsProps {
  agencyName: string;
  pages: Pages<Channel>;
  place: ChannelsPlace;
  open: OpenChannels;
}

function Channels({ agencyName, pages: { items: channels, more }, place, open }: ChannelsProps) {
  const frame = useRef<HTMLDivElement>(null);
  // On narrow screens the list or the channel is hidden.
  useKeepFocus(place.channel ?? "", () => {
    const parts = frame.current?.querySelectorAll<HTMLElement>(".channel-pane, .channel-row") ?? [];
    return [...parts].findLast((part) => part.checkVisibility());
  });
  // Without a channel in the address, there is one to read on a wide screen, and the list on a narrow one.
  const wanted = place.channel ?? defaultChannel;
  const channel = findChannel(channels, wanted, open.user);
  return (
    <ChannelsProvider value={open}>
      <div
        ref={frame}
        className="whole channels"
        data-open={place.channel !== undefined || undefined}
        data-thread={place.thread}
      >
        <ChannelList agencyName={agencyName} channels={channels} current={channel?.name ?? wanted} more={more} />
        <ChannelPane
          key={`${channel?.name ?? wanted} ${place.message ?? ""}`}
          channels={channels}
          channel={channel}
          name={wanted}
          message={place.message}
        />
        {place.thread !== undefined && channel && (
          <ThreadPanel key={place.thread} channel={channel} thread={place.thread} />
        )}
      </div>
    </ChannelsProvider>
  );
}

/** The same set until the names change, so that messages are not drawn again whenever an agent does something. */
function useNames(agents: readonly { name: string }[]): ReadonlySet<string> {
  const text = agents.map(({ name }) => name).join(" ");
  return useMemo(() => new Set(text.split(" ").filter(Boolean)), [text]);
}
