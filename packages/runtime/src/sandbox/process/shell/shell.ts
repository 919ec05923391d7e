import "./collation.ts";
import { WorkerEntrypoint } from "cloudflare:workers";
import type { SearchJob, SearchOutcome, ShellHost, ShellJob, ShellOutcome, View } from "../../shell.ts";
import { runCommand } from "./command.ts";
import { search } from "./search.ts";
import type { Folder } from "./tree.ts";
import { Views } from "./view.ts";

interface Stale {
  stale: number | null;
}

/** As long as the isolate lives, it knows the workspace as it was told last. */
const views = new Views();
let busy = 0;

/**
 * The part of a sandbox that is a shell. It is large, so it has an isolate of its own, which is there only once somebody
 * ran a command or searched.
 */
export default class Shell extends WorkerEntrypoint {
  shell({ view, ...job }: ShellJob, host: ShellHost): Promise<ShellOutcome | Stale> {
    return within(view, (work) => runCommand({ job, work, host, onFetched: (body) => views.fetched(body) }));
  }

  search({ view, ...job }: SearchJob, host: ShellHost): Promise<SearchOutcome | Stale> {
    return within(view, (work) => search({ job, work, host, onFetched: (body) => views.fetched(body) }));
  }
}

async function within<T>(view: View, work: (root: Folder) => Promise<T>): Promise<T | Stale> {
  const opened = views.open(view);
  if ("stale" in opened) return { stale: opened.stale ?? null };
  busy++;
  try {
    return await work(opened.root);
  } finally {
    if (--busy === 0) views.trim();
  }
}
