import type { Who } from "@thinkery/sdk";
import { useEffect } from "react";
import { getAgentName } from "../api/agent-path.ts";
import { useWaitingCount } from "../api/inbox.ts";
import { InboxCount } from "../inbox/inbox-badge.tsx";
import { Icon } from "../parts/icon.tsx";
import { Logo } from "../parts/logo.tsx";
import { CurrentView } from "../views/current-view.tsx";
import { type Place, useViews } from "../views/view-registry.ts";
import { Announcer } from "./announce.tsx";
import { ConnectionBanner, useConnection } from "./connection.tsx";
import { useDrawer } from "./drawer.ts";
import { Link } from "./link.tsx";
import { homePath, inboxPath, usePath } from "./navigation.ts";
import { setOpen } from "./open-agencies.ts";
import { Sidebar } from "./sidebar.tsx";

/** Layout around every view of a logged-in user. */
export function Frame({ who }: { who: Who }) {
  const path = usePath();
  const place = useViews().findPlace(path);
  const connection = useConnection(who.user);
  const { open, setOpen: setDrawer, drawer, opener } = useDrawer(path);
  const agency = "agency" in place ? place.agency : undefined;
  const title = buildTitle(place);
  const waiting = useWaitingCount(who.user) ?? 0;

  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [title, waiting]);

  useEffect(() => {
    if (agency) setOpen(agency, true);
  }, [agency]);

  return (
    <div className="frame" data-drawer={open || undefined}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="topbar" inert={open}>
        <button
          ref={opener}
          type="button"
          className="icon-button"
          aria-label="Open sidebar"
          aria-expanded={open}
          aria-controls="sidebar"
          onClick={() => setDrawer(true)}
        >
          <Icon name="menu" />
        </button>
        <Link className="brand" href={homePath}>
          <Logo />
          Thinkery
        </Link>
        {waiting > 0 && (
          <Link className="topbar-inbox" href={inboxPath} title="Inbox">
            <Icon name="inbox" />
            <InboxCount count={waiting} />
          </Link>
        )}
        <span
          className="dot"
          data-tone={connection === "live" ? "ok" : connection === "connecting" ? "quiet" : "warn"}
        />
      </header>
      <div className="drawer-backdrop" aria-hidden="true" onClick={() => setDrawer(false)} />
      <div className="sidebar" id="sidebar" ref={drawer}>
        <button
          type="button"
          className="icon-button drawer-close"
          aria-label="Close sidebar"
          onClick={() => setDrawer(false)}
        >
          <Icon name="close" />
        </button>
        <Sidebar user={who.user} place={place} connection={connection} />
      </div>
      <main id="main" tabIndex={-1} inert={open}>
        <ConnectionBanner user={who.user} connection={connection} />
        <CurrentView user={who.user} place={place} />
      </main>
      <Announcer title={title} />
    </div>
  );
}

/** The view and its owner, at most two names: “notes.md · alice · Thinkery”. */
function buildTitle(place: Place): string {
  if (place.scope === "none") return "Thinkery";
  const agency = place.scope === "host" ? undefined : place.agency;
  const agent = place.scope === "agent" ? getAgentName(place.agent) : undefined;
  const names = [place.match.title, agent, agency].filter((name) => name !== undefined).slice(0, 2);
  return [...names, "Thinkery"].join(" · ");
}
