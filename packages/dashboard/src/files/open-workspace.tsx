import type { Branch, Version } from "@thinkery/sdk";
import type { FileChanges } from "@thinkery/sdk/react";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from "react";
import { createBranchesSource, createLatestSource, type Listing, createListingSource } from "../api/files.ts";
import { useHasScope } from "../api/login.ts";
import type { Source } from "../api/source.ts";
import type { Workspace } from "../api/workspace.ts";
import { documentsAddress, filesAddress, type FilesPlace } from "../frame/files-place.ts";
import { buildPath } from "../frame/navigation.ts";
import { Refresher } from "./refresher.ts";

/** State shared by all parts of the files view. */
export interface OpenWorkspace extends Workspace {
  user: string;
  /** What its files are called. */
  noun: "file" | "document";
  canWrite: boolean;
  listing: Source<Listing>;
  latest: Source<Version[]>;
  branches: Source<Branch[]>;
  lastChanged: FileChanges | undefined;
  /** URL of a place in these files, on the current branch unless another is given. */
  to(place: FilesPlace): string;
  /** Reloads the files, versions and branches. */
  refresh(): void;
}

const context = createContext<OpenWorkspace | undefined>(undefined);

export function useWorkspace(): OpenWorkspace {
  const open = useContext(context);
  if (!open) throw new Error("useWorkspace must be used within a WorkspaceProvider.");
  return open;
}

interface WorkspaceProps {
  agency: string;
  /** Undefined for the documents of the agency. */
  agent: string | undefined;
  user: string;
  place: FilesPlace;
  lastChanged: FileChanges | undefined;
  /** Different after every change, if it is not known what changed. */
  changeCount?: number | undefined;
  children: ReactNode;
}

export function WorkspaceProvider({ agency, agent, user, place, lastChanged, changeCount, children }: WorkspaceProps) {
  const { branch } = place;
  const canWrite = useHasScope("chat", agency);
  const open = useMemo(() => {
    const workspace = { agency, agent, branch };
    const listing = createListingSource(workspace);
    const latest = createLatestSource(workspace);
    const branches = createBranchesSource(workspace);
    const address = agent === undefined ? documentsAddress : filesAddress;
    return {
      ...workspace,
      noun: agent === undefined ? ("document" as const) : ("file" as const),
      listing,
      latest,
      branches,
      to: (place: FilesPlace) =>
        buildPath(agency, agent) + address.build({ ...(branch === undefined ? {} : { branch }), ...place }),
      refresh: () => void Promise.all([listing.reload(), latest.reload(), branches.reload()]),
    };
  }, [agency, agent, branch]);
  const refresher = useMemo(() => new Refresher(open.refresh), [open]);
  useEffect(() => () => refresher.stop(), [refresher]);
  useOnChange(lastChanged, () => lastChanged && refresher.handleChange(lastChanged, open.listing.get().value));
  useOnChange(changeCount, () => refresher.schedule());
  // Typing is only reported once, when it begins, so navigation also refreshes.
  useOnChange(`${place.show} ${place.path}`, () => refresher.schedule());
  const value = useMemo(() => ({ ...open, user, canWrite, lastChanged }), [open, user, canWrite, lastChanged]);
  return <context.Provider value={value}>{children}</context.Provider>;
}

/** Calls `callback` when the value changes, but not on mount, because everything is loaded then anyway. */
function useOnChange(value: unknown, callback: () => void): void {
  const last = useRef(value);
  useEffect(() => {
    if (last.current === value) return;
    last.current = value;
    callback();
  });
}
