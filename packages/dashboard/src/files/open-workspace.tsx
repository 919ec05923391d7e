import type { Branch, Version } from "@thinkery/sdk";
import type { Changed } from "@thinkery/sdk/react";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from "react";
import {
  createBranchesSource,
  createLatestSource,
  type Listing,
  createListingSource,
  type Workspace,
} from "../api/files.ts";
import { useHasScope } from "../api/login.ts";
import type { Source } from "../api/source.ts";
import { type FilesPlace, buildFilesAddress } from "../frame/files-place.ts";
import { buildPath } from "../frame/navigation.ts";
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
  const mayWrite = useHasScope("chat");
  const open = useMemo(() => {
    const workspace = { agency, agent, branch };
    const listing = createListingSource(workspace);
    const latest = createLatestSource(workspace);
    const branches = createBranchesSource(workspace);
    return {
      ...workspace,
      listing,
      latest,
      branches,
      to: (place: FilesPlace) =>
        buildPath(agency, agent) + buildFilesAddress({ ...(branch === undefined ? {} : { branch }), ...place }),
      refresh: () => void Promise.all([listing.reload(), latest.reload(), branches.reload()]),
    };
  }, [agency, agent, branch]);
  const refresher = useMemo(() => new Refresher(open.refresh), [open]);
  useEffect(() => () => refresher.stop(), [refresher]);
  useOnChange(lastChanged, () => lastChanged && refresher.handleChange(lastChanged, open.listing.get().value));
  // What a person types is told once, when it begins, so going from place to place is a reason to look too.
  useOnChange(`${place.show} ${place.path}`, () => refresher.schedule());
  const value = useMemo(() => ({ ...open, user, mayWrite, lastChanged }), [open, user, mayWrite, lastChanged]);
  return <context.Provider value={value}>{children}</context.Provider>;
}

/** Does something whenever this is another one; whoever is first to look loads everything anyway. */
function useOnChange(reason: unknown, work: () => void): void {
  const last = useRef(reason);
  useEffect(() => {
    if (last.current === reason) return;
    last.current = reason;
    work();
  });
}
