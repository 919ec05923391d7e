import "./collation.ts";
import { WorkerEntrypoint } from "cloudflare:workers";
import type { SearchJob, SearchOutcome, ShellHost, ShellJob, ShellOutcome, View } from "../../shell.ts";
import { runCommand } from "./command.ts";
import { search } from "./search.ts";
import type { Folder } from "./tree.ts";
import { ViewCache } from "./view-cache.ts";

interface Stale {
  stale: number | null;
}

/** Views of workspaces, cached while the isolate lives. */
const views = new ViewCache();
let runningCount = 0;

/**
 * The shell of a sandbox, in its own isolate. It is large, so it is only loaded for the first command or search.
 */
export default class Shell extends WorkerEntrypoint {
  shell({ view, ...job }: ShellJob, host: ShellHost): Promise<ShellOutcome | Stale> {
    return runInView(view, (work) => runCommand({ job, work, host, onFetched: (body) => views.trackFetched(body) }));
  }

  search({ view, ...job }: SearchJob, host: ShellHost): Promise<SearchOutcome | Stale> {
    return runInView(view, (work) => search({ job, work, host, onFetched: (body) => views.trackFetched(body) }));
  }
}

async function runInView<T>(view: View, work: (root: Folder) => Promise<T>): Promise<T | Stale> {
  const opened = views.open(view);
  if ("stale" in opened) return { stale: opened.stale ?? null };
  runningCount++;
  try {
    return await work(opened.root);
  } finally {
    if (--runningCount === 0) views.trim();
  }
}
