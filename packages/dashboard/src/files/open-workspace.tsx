import type { Branch, Version } from "@thinkery/sdk";
import type { Changed } from "@thinkery/sdk/react";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from "react";
import { branchesOf, latestOf, type Listing, listingOf, type Workspace } from "../api/files.ts";
import { useMay } from "../api/login.ts";
import type { Source } from "../api/source.ts";
import { type FilesPlace, filesAddress } from "../frame/files-place.ts";
import { pathTo } from "../frame/place.ts";
import { Refresher } from "./refresher.ts";

/** What all parts of the files view share. */
export interface OpenWorkspace extends Workspace {
  user: string;
  mayWrite: boolean;
  listing: Source<Listing>;
  latest: Source<Version[]>;
  branches: Source<Branch[]>;
  lastChanged: Changed | undefined;
  /** The address of a place in these files, on this branch if none is named. */
  to(place: FilesPlace): string;
  /** Something was changed here: looks again at once. */
  refresh(): void;
}

const context = createContext<OpenWorkspace | undefined>(undefined);

export function useWorkspace(): OpenWorkspace {
  const open = useContext(context);
  if (!open) throw new Error("no workspace is open here");
  return open;
}

interface WorkspaceProps {
  agency: string;
  agent: string;
  user: string;
  place: FilesPlace;
  lastChanged: Changed | undefined;
  children: ReactNode;
}

export function WorkspaceProvider({ agency, agent, user, place, lastChanged, children }: WorkspaceProps) {
  const { branch } = place;
  const mayWrite = useMay("chat");
  const open = useMemo(() => {
    const workspace = { agency, agent, branch };
    const listing = listingOf(workspace);
    const latest = latestOf(workspace);
    const branches = branchesOf(workspace);
    return {
      ...workspace,
      listing,
      latest,
      branches,
      to: (place: FilesPlace) => pathTo(agency, agent) + filesAddress({ ...(branch === undefined ? {} : { branch }), ...place }),
      refresh: () => void Promise.all([listing.reload(), latest.reload(), branches.reload()]),
    };
  }, [agency, agent, branch]);
  const refresher = useMemo(() => new Refresher(open.refresh), [open]);
  useEffect(() => () => refresher.stop(), [refresher]);
  useAnew(lastChanged, () => lastChanged && refresher.after(lastChanged, open.listing.get().value));
  // What a person types is told once, when it begins, so going from place to place is a reason to look too.
  useAnew(`${place.show} ${place.path}`, () => refresher.soon());
  const value = useMemo(() => ({ ...open, user, mayWrite, lastChanged }), [open, user, mayWrite, lastChanged]);
  return <context.Provider value={value}>{children}</context.Provider>;
}

/** Does something whenever this is another one; whoever is first to look loads everything anyway. */
function useAnew(reason: unknown, work: () => void): void {
  const last = useRef(reason);
  useEffect(() => {
    if (last.current === reason) return;
    last.current = reason;
    work();
  });
}
