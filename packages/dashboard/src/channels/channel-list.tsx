import { type Channel, defaultChannel } from "@thinkery/sdk";
import { type KeyboardEvent, useState } from "react";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { useNow } from "../parts/date-time.tsx";
import { formatAge } from "../parts/duration.ts";
import { Icon } from "../parts/icon.tsx";
import { countUnread, useReadMarks } from "../team/unread.ts";
import { getChannelTitle, sortChannels } from "./channel-name.ts";
import { useChannels } from "./channels-context.ts";
import { NewChannel, NewDirectMessage } from "./new-channel.tsx";

interface ChannelListProps {
  agencyName: string;
  channels: readonly Channel[];
  current: string;
  /** Whether there are more channels than those. */
  more: boolean;
}

export function ChannelList({ agencyName, channels, current, more }: ChannelListProps) {
  const { canWrite } = useChannels();
  const [dialog, setDialog] = useState<"channel" | "direct">();
  const { named, direct } = sortChannels(channels, defaultChannel);
  const close = () => setDialog(undefined);
  return (
    <nav className="channel-list" aria-label={`Channels of ${agencyName}`} onKeyDown={moveInList}>
      <h1 className="visually-hidden">Channels of {agencyName}</h1>
      <ListHead title="Channels" action={canWrite ? "New channel" : undefined} onAction={() => setDialog("channel")} />
      <ul>
        {named.map((channel) => (
          <ChannelRow key={channel.name} channel={channel} isCurrent={channel.name === current} />
        ))}
      </ul>
      <ListHead
        title="Direct messages"
        action={canWrite ? "New direct message" : undefined}
        onAction={() => setDialog("direct")}
      />
      <ul>
        {direct.map((channel) => (
          <ChannelRow key={channel.name} channel={channel} isCurrent={channel.name === current} />
        ))}
      </ul>
      {direct.length === 0 && <p className="tree-note">Between two members, also between agents</p>}
      {more && <p className="tree-note">Showing the first {channels.length}</p>}
      {dialog === "channel" && <NewChannel onClose={close} />}
      {dialog === "direct" && <NewDirectMessage onClose={close} />}
    </nav>
  );
}

interface ListHeadProps {
  title: string;
  action: string | undefined;
  onAction(): void;
}

function ListHead({ title, action, onAction }: ListHeadProps) {
  return (
    <div className="sidebar-head">
      <h2>{title}</h2>
      {action !== undefined && (
        <button type="button" className="icon-button" aria-label={action} title={action} onClick={onAction}>
          <Icon name="plus" />
        </button>
      )}
    </div>
  );
}

function ChannelRow({ channel, isCurrent }: { channel: Channel; isCurrent: boolean }) {
  const { user, agency, to } = useChannels();
  const unread = countUnread(useReadMarks(user, agency), channel);
  const { name, kind, description, lastMessageAt } = channel;
  return (
    <li>
      <Link
        className="channel-row"
        href={to({ channel: name })}
        aria-current={isCurrent ? "page" : undefined}
        data-unread={unread > 0 || undefined}
        title={description && sanitizeText(description)}
      >
        <Icon name={kind === "direct" ? "person" : "channel"} />
        <span className="channel-name">{sanitizeText(getChannelTitle(channel, user))}</span>
        {unread > 0 ? (
          <span className="inbox-count">
            {unread > 99 ? "99+" : unread}
            <span className="visually-hidden"> unread</span>
          </span>
        ) : (
          lastMessageAt !== undefined && <Age at={lastMessageAt} />
        )}
      </Link>
    </li>
  );
}

/** How long ago the last message was. */
function Age({ at }: { at: string }) {
  const now = useNow(60_000);
  return (
    <time className="channel-time" dateTime={at} title={new Date(at).toLocaleString()}>
      {formatAge(now - Date.parse(at))}
    </time>
  );
}

/** Arrow keys move between the channels. */
function moveInList(event: KeyboardEvent<HTMLElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(".channel-row")];
  const index = rows.indexOf(event.target as HTMLElement);
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (index < 0 || next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  rows[next]?.focus();
}
