import type { Who } from "@thinkery/sdk";
import { useEffect } from "react";
import { Icon } from "../parts/icon.tsx";
import { Logo } from "../parts/logo.tsx";
import { View } from "../views/view.tsx";
import { Announcer } from "./announce.tsx";
import { ConnectionBanner, useConnection } from "./connection.tsx";
import { useDrawer } from "./drawer.ts";
import { Link } from "./link.tsx";
import { setOpen } from "./open-agencies.ts";
import { homePath, type Place, placeAt, usePath } from "./place.ts";
import { Sidebar } from "./sidebar.tsx";

/** What surrounds every view of somebody who is logged in. */
export function Frame({ who }: { who: Who }) {
  const path = usePath();
  const place = placeAt(path);
  const connection = useConnection(who.user);
  const { open, setOpen: setDrawer, drawer, opener } = useDrawer(path);
  const agency = "agency" in place ? place.agency : undefined;
  const title = titleOf(place);

  useEffect(() => {
    document.title = title;
  }, [title]);

  useEffect(() => {
    if (agency) setOpen(agency, true);
  }, [agency]);

  return (
    <div className="frame" data-drawer={open || undefined}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="topbar" inert={open}>
        <button
          ref={opener}
          type="button"
          className="icon-button"
          aria-label="Open the list of agencies"
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
        <span className="dot" data-tone={connection === "live" ? "ok" : connection === "connecting" ? "quiet" : "warn"} />
      </header>
      <div className="drawer-shade" aria-hidden="true" onClick={() => setDrawer(false)} />
      <div className="sidebar" id="sidebar" ref={drawer}>
        <button
          type="button"
          className="icon-button drawer-close"
          aria-label="Close the list of agencies"
          onClick={() => setDrawer(false)}
        >
          <Icon name="close" />
        </button>
        <Sidebar user={who.user} place={place} connection={connection} />
      </div>
      <main id="main" tabIndex={-1} inert={open}>
        <ConnectionBanner user={who.user} connection={connection} />
        <View user={who.user} place={place} />
      </main>
      <Announcer title={title} />
    </div>
  );
}

function titleOf(place: Place): string {
  if (place.view === "usage") return place.agency === undefined ? "Usage · Thinkery" : `Usage · ${place.agency} · Thinkery`;
  if (place.view === "agency") return `${place.agency} · Thinkery`;
  if (place.view === "agent" && place.files) return `${place.files.path ?? "Files"}${place.files.show === "history" ? ", history" : ""} · ${place.agent} · Thinkery`;
  if (place.view === "agent") return `${place.agent} · ${place.agency} · Thinkery`;
  return "Thinkery";
}
