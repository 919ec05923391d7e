import type { Channel } from "@thinkery/sdk";
import { useEffect, useRef } from "react";
import { Link } from "../frame/link.tsx";
import { navigate } from "../frame/navigation.ts";
import { Icon } from "../parts/icon.tsx";
import { ChannelComposer } from "./channel-composer.tsx";
import { canWriteTo, getChannelTitle } from "./channel-name.ts";
import { useChannels } from "./channels-context.ts";
import { MessageList } from "./message-list.tsx";

/** A message and what answers it, beside its channel. Escape closes it. */
export function ThreadPanel({ channel, thread }: { channel: Channel; thread: string }) {
  const { user, team, canWrite, to } = useChannels();
  const panel = useRef<HTMLElement>(null);
  const closed = to({ channel: channel.name });

  // A link of a message opened it; the reader goes on here, and afterwards there.
  useEffect(() => {
    const opener = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    return () => {
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    };
  }, []);

  return (
    <aside
      ref={panel}
      className="thread-panel"
      aria-label="Thread"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        navigate(closed);
      }}
    >
      <header className="channel-head">
        <div className="channel-title">
          <h2>Thread</h2>
          <p className="faint">in {getChannelTitle(channel, user)}</p>
        </div>
        <Link className="icon-button" href={closed} aria-label="Close thread" title="Close (Esc)">
          <Icon name="close" />
        </Link>
      </header>
      <MessageList
        log={team.getLog({ channel: channel.name, thread })}
        channel={channel.name}
        thread={thread}
        empty={<p className="faint">There is no such message in this channel.</p>}
      />
      {canWrite && canWriteTo(channel, user) && (
        <ChannelComposer
          channel={channel.name}
          thread={thread}
          label="this thread"
          isDirect={channel.kind === "direct"}
        />
      )}
    </aside>
  );
}
