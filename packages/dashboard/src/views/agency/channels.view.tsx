import { useSource } from "../../api/source.ts";
import { useTeam } from "../../api/team/team.ts";
import { buildChannelsAddress, channelsSegment, type ChannelsPlace } from "../../frame/navigation.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { countUnread, useReadMarks } from "../../team/unread.ts";
import { type AgencyViewProps, defineView } from "../define-view.tsx";
import type { ViewAddress } from "../view-address.ts";

const ChannelsView = createLazyView(() =>
  import("../../channels/channels-view.tsx").then(({ ChannelsView }) => ChannelsView),
);

const channelsAddress: ViewAddress<ChannelsPlace> = {
  segments: [channelsSegment],
  initial: {},
  parse([, channel, message, ...rest], query) {
    const thread = query.get("thread");
    if (rest.length > 0) return undefined;
    return {
      ...(channel === undefined ? {} : { channel }),
      ...(message === undefined ? {} : { message }),
      ...(thread && channel !== undefined ? { thread } : {}),
    };
  },
  build: buildChannelsAddress,
};

export const view = defineView({
  scope: "agency",
  name: "channels",
  label: "Channels",
  order: 4,
  address: channelsAddress,
  title: ({ channel }) => (channel === undefined ? "Channels" : channel.startsWith("@") ? channel : `#${channel}`),
  Badge: UnreadBadge,
  Component: ({ user, agency, params }: AgencyViewProps & { params: ChannelsPlace }) => (
    <ChannelsView user={user} agency={agency} place={params} />
  ),
});

/** How many channels have messages that the person has not read. */
function UnreadBadge({ user, agency, current }: AgencyViewProps & { current: boolean }) {
  const { value } = useSource(useTeam(agency.id).channels);
  const marks = useReadMarks(user, agency.id);
  const unread = value?.items.filter((channel) => countUnread(marks, channel) > 0).length ?? 0;
  if (unread === 0 || current) return null;
  return (
    <span className="inbox-count">
      {unread}
      <span className="visually-hidden"> unread</span>
    </span>
  );
}
