import { useState } from "react";
import { getAgenciesSource } from "../api/agencies.ts";
import { logOut, getErrorMessage, useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { Icon } from "../parts/icon.tsx";
import { Logo } from "../parts/logo.tsx";
import { NewAgency } from "../views/new-agency.tsx";
import { isIndex, type Place, useViews } from "../views/view-registry.ts";
import { announce } from "./announce.tsx";
import type { Connection } from "./connection.tsx";
import { HostStatus } from "./host-status.tsx";
import { Link } from "./link.tsx";
import { homePath } from "./navigation.ts";
import { ThemeSwitch } from "./theme-switch.tsx";
import { Tree } from "./tree.tsx";
import { ViewBadge } from "./view-tabs.tsx";

interface SidebarProps {
  user: string;
  place: Place;
  connection: Connection;
}

export function Sidebar({ user, place, connection }: SidebarProps) {
  const { value, error } = useSource(getAgenciesSource(user));
  const canCreate = useHasScope("chat");
  const { views } = useViews();
  const current = place.scope === "host" ? place.match.view : undefined;
  const [creating, setCreating] = useState(false);

  const handleLogOut = () => logOut().catch((error: unknown) => announce(getErrorMessage(error)));

  return (
    <>
      <Link className="brand" href={homePath} aria-current={current && isIndex(current) ? "page" : undefined}>
        <Logo />
        Thinkery
      </Link>
      <nav className="sidebar-tree" aria-label="Agencies and agents">
        <div className="sidebar-head">
          <h2>Agencies</h2>
          {canCreate && (
            <button
              type="button"
              className="icon-button"
              aria-label="New agency"
              title="New agency"
              onClick={() => setCreating(true)}
            >
              <Icon name="plus" />
            </button>
          )}
        </div>
        {value ? (
          <Tree agencies={value.items} place={place} />
        ) : (
          // The main view shows the error and a retry button.
          <p className="tree-note">{error ? "Failed to load" : "Loading…"}</p>
        )}
        {value?.more && <p className="tree-note">Showing the first {value.items.length}</p>}
      </nav>
      <footer className="sidebar-foot">
        <nav aria-label="Host">
          {views.host
            .filter((view) => !isIndex(view))
            .map((view) => (
              <Link
                key={view.name}
                className="sidebar-link"
                href={homePath + view.path}
                aria-current={view === current ? "page" : undefined}
              >
                {view.icon && <Icon name={view.icon} />}
                {view.label}
                <ViewBadge view={view} current={view === current} props={{ user }} />
              </Link>
            ))}
        </nav>
        <HostStatus connection={connection} />
        <div className="sidebar-person">
          <span className="person" title={`Logged in as ${user}`}>
            {user}
          </span>
          <ThemeSwitch />
          <button
            type="button"
            className="icon-button"
            aria-label="Log out"
            title="Log out"
            onClick={() => void handleLogOut()}
          >
            <Icon name="logout" />
          </button>
        </div>
      </footer>
      {creating && <NewAgency user={user} onClose={() => setCreating(false)} />}
    </>
  );
}
