import { watchFiles } from "./watch.ts";
import { bundleWorker, type InstalledWorker, installWorker, type BundledWorker } from "./worker.ts";

interface FollowOptions {
  /** The host's version. */
  version: string;
  /** The folder in which Workers are installed. */
  run: string;
  /** Workers that main may still be started with, the current one first. */
  listWorkers(): InstalledWorker[];
  renew(worker: InstalledWorker): Promise<void>;
  report(line: string): void;
}

/** Bundles a Worker again whenever one of its files changes, and restarts main with it. */
export function followWorker(first: BundledWorker, options: FollowOptions): { close(): void } {
  const { version, run, listWorkers, renew, report } = options;
  const files = watchFiles(
    () => void handleChange(),
    (error) => report(`Some changes of the Worker will not be noticed: ${error.message}.`),
  );
  let { inputs } = first;
  let isBusy = false;
  let isPending = false;
  let isClosed = false;
  files.setFiles(inputs, false);

  async function handleChange(): Promise<void> {
    isPending = true;
    if (isBusy) return;
    isBusy = true;
    while (isPending && !isClosed) {
      isPending = false;
      await rebundle().catch((error: Error) => report(`${error.message}\nMain continues with the current Worker.`));
    }
    isBusy = false;
  }

  async function rebundle(): Promise<void> {
    // Watch before reading, so that changes made while bundling are not missed.
    files.setFiles(inputs, true);
    const next = await bundleWorker(first.entry, version, { stay: true });
    inputs = next.inputs;
    files.setFiles(inputs, false);
    if (isClosed || listWorkers()[0]?.label === next.label) return;
    report("The Worker has changed; restarting main.");
    await renew(await installWorker(next, run, listWorkers()));
  }

  return {
    close() {
      isClosed = true;
      files.close();
    },
  };
}
