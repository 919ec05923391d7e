import { type Change, mainBranch } from "@thinkery/sdk";
import type { FileChanges } from "@thinkery/sdk/react";
import { useEffect, useState } from "react";
import { call } from "../../api/host.ts";
import { filesAddress } from "../../frame/files-place.ts";
import { Link } from "../../frame/link.tsx";
import { buildPath } from "../../frame/navigation.ts";
import { Icon } from "../../parts/icon.tsx";
import { LineCounts } from "./line-counts.tsx";
import { sanitizeText } from "./sanitize-text.ts";

interface ChangedFilesProps {
  agency: string;
  agent: string;
  changed: readonly FileChanges[];
  /** Whether the card is open; only then are line counts loaded. */
  open: boolean;
}

const maxCollapsed = 3;
const maxExpanded = 30;
/** Maximum versions to load line counts for; code in a loop may create very many. */
const maxCounted = 5;

const changeVerbs: Record<Change["kind"], string> = { add: "added", edit: "edited", delete: "deleted", move: "moved" };

type Counts = ReadonlyMap<string, { added: number; removed: number }>;

/** The files that a call changed, with links to the changes. */
export function ChangedFiles({ agency, agent, changed, open }: ChangedFilesProps) {
  const counts = useCounts(agency, agent, changed, open);
  const all = changed.flatMap(({ version, changes, branch }) =>
    changes.map((change) => ({ ...change, version, branch })),
  );
  const shown = all.slice(0, open ? maxExpanded : maxCollapsed);
  const more = all.length - shown.length + changed.reduce((sum, { more }) => sum + more, 0);
  if (all.length === 0) return null;
  return (
    <ul className="call-files" aria-label="Changed files">
      {shown.map(({ path, kind, version, branch = mainBranch }) => {
        const lines = counts.get(`${version} ${path}`);
        return (
          <li key={`${version} ${path}`} data-kind={kind}>
            <Link
              href={buildPath(agency, agent) + filesAddress.build({ show: "history", path, version, branch })}
              title={`${changeVerbs[kind]} in version ${version}`}
            >
              <Icon name="file" />
              <span className="visually-hidden">{changeVerbs[kind]} </span>
              {sanitizeText(path)}
            </Link>
            {lines && <LineCounts {...lines} />}
          </li>
        );
      })}
      {more > 0 && <li className="faint">and {more} more</li>}
    </ul>
  );
}

function useCounts(agency: string, agent: string, changed: readonly FileChanges[], open: boolean): Counts {
  const [counts, setCounts] = useState<Counts>(new Map());
  useEffect(() => {
    if (!open) return;
    let stale = false;
    for (const { version } of changed.slice(0, maxCounted)) {
      call("getVersion", { params: { agency, agent, version: String(version) } }).then(
        ({ diffs }) => {
          if (stale) return;
          const loaded = diffs.flatMap(({ path, added, removed }) =>
            added === undefined ? [] : [[`${version} ${path}`, { added, removed: removed ?? 0 }] as const],
          );
          setCounts((before) => new Map([...before, ...loaded]));
        },
        // The files are then shown without counts.
        () => {},
      );
    }
    return () => void (stale = true);
  }, [agency, agent, changed, open]);
  return counts;
}
