import { type Channel, defaultChannel } from "@thinkery/sdk";
import { useEffect, useState } from "react";
import { useDefaultAgency, useHasScope } from "../api/login.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { formatCount } from "../parts/amount.ts";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { markRead } from "../team/unread.ts";
import { ChannelComposer } from "./channel-composer.tsx";
import { canWriteTo, getChannelTitle } from "./channel-name.ts";
import { useChannels } from "./channels-context.ts";
import { MessageList } from "./message-list.tsx";
import { DeleteChannel } from "./new-channel.tsx";

interface ChannelPaneProps {
  channels: readonly Channel[];
  /** Undefined if there is no such channel, or a direct one in which nobody has written. */
  channel: Channel | undefined;
  /** As in the address. */
  name: string;
  /** The message to show first. */
  message: string | undefined;
}

/** A channel: its messages, and a field to write in. */
export function ChannelPane({ channels, channel, name, message }: ChannelPaneProps) {
  const { user, agency, team, canWrite, agents, to } = useChannels();
  const [isAtEnd, setAtEnd] = useState(false);
  const isNewDirect = !channel && name.startsWith("@") && agents.has(name.slice(1));
  const isVisible = useVisible();

  useEffect(() => {
    if (isAtEnd && isVisible) markRead(user, agency, channels, channel?.name);
  }, [user, agency, channels, channel, isAtEnd, isVisible]);

  if (!channel && !isNewDirect) {
    return (
      <section className="channel-pane" aria-label={name} tabIndex={-1}>
        <BackLink />
        <div className="channel-missing">
          <Empty title={`There is no channel “${sanitizeText(name)}”`}>
            <p>
              It may have been deleted. <Link href={to({ channel: defaultChannel })}>Go to {defaultChannel}</Link>
            </p>
          </Empty>
        </div>
      </section>
    );
  }
  const title = channel ? getChannelTitle(channel, user) : name.slice(1);
  const recipient = channel?.kind === "direct" || !channel ? title : undefined;
  return (
    <section className="channel-pane" aria-label={title} tabIndex={-1}>
      <header className="channel-head">
        <BackLink />
        <div className="channel-title">
          <h2>
            <Icon name={recipient === undefined ? "channel" : "person"} />
            {recipient !== undefined && agents.has(recipient) ? (
              <Link href={buildPath(agency, recipient)}>{recipient}</Link>
            ) : (
              sanitizeText(title)
            )}
          </h2>
          <p className="faint">
            {channel?.description
              ? sanitizeText(channel.description)
              : channel
                ? channel.messages === 0
                  ? "Nobody has written yet"
                  : formatCount(channel.messages, "message")
                : "New direct message"}
          </p>
        </div>
        {channel && <ChannelMenu channel={channel} />}
      </header>
      <MessageList
        log={team.getLog({ channel: channel?.name ?? name, around: message })}
        channel={channel?.name ?? name}
        target={message}
        onEnd={setAtEnd}
        empty={<EmptyChannel name={channel?.name ?? name} recipient={recipient} />}
      />
      {!canWrite ? (
        <p className="channel-note faint">You have read-only access.</p>
      ) : channel && !canWriteTo(channel, user) ? (
        <p className="channel-note faint">Only {title} write here.</p>
      ) : (
        <ChannelComposer
          channel={channel?.name ?? name}
          label={recipient === undefined ? `#${title}` : title}
          isDirect={recipient !== undefined}
        />
      )}
    </section>
  );
}

/** On narrow screens, from a channel to the list. */
function BackLink() {
  const { to } = useChannels();
  return (
    <Link className="icon-button channel-back" href={to({})} aria-label="All channels" title="All channels">
      <Icon name="back" />
    </Link>
  );
}

function ChannelMenu({ channel }: { channel: Channel }) {
  const canDelete = useHasScope("admin", useChannels().agency) && channel.name !== defaultChannel;
  const [isDeleting, setDeleting] = useState(false);
  if (!canDelete) return null;
  return (
    <>
      <Menu label="More">
        <button type="button" onClick={() => setDeleting(true)}>
          Delete channel
        </button>
      </Menu>
      {isDeleting && <DeleteChannel name={channel.name} onClose={() => setDeleting(false)} />}
    </>
  );
}

function EmptyChannel({ name, recipient }: { name: string; recipient: string | undefined }) {
  const { agency, agents } = useChannels();
  const place = useDefaultAgency() === agency ? name : `${name}@${agency}`;
  const [example = "alice"] = agents;
  if (recipient !== undefined) {
    return (
      <Empty title={`Nothing between you and ${sanitizeText(recipient)} yet`}>
        <p>Every message here gets a turn of its own, without a mention.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No messages yet">
      <p>
        Everyone in this agency can read what is written here. Mention an agent, such as <code>@{example}</code>, and it
        gets a turn to handle the message; the others are not disturbed. Agents write here with the tool{" "}
        <code>channel_send</code>.
      </p>
      <p>
        From a terminal:{" "}
        <code>
          thinkery channel send {place} "@{example} hello"
        </code>
      </p>
    </Empty>
  );
}

/** Whether the page is in front. What arrives while it is not, is not read. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return isVisible;
}
