import { watchFiles } from "./watch.ts";
import { bundleWorker, type InstalledWorker, installWorker, type BundledWorker } from "./worker.ts";

interface FollowOptions {
  /** The host's. */
  version: string;
  /** Where Workers are laid. */
  run: string;
  /** Those main may still be started with, the current one first. */
  listWorkers(): InstalledWorker[];
  renew(worker: InstalledWorker): Promise<void>;
  say(line: string): void;
}

/** Bundles a Worker again whenever one of its files changes, and has main started with it. */
export function followWorker(first: BundledWorker, options: FollowOptions): { close(): void } {
  const { version, run, listWorkers, renew, say } = options;
  const files = watchFiles(
    () => void handleChange(),
    (error) => say(`Not every change of the Worker will be seen: ${error.message}.`),
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
      await rebundle().catch((error: Error) => say(`${error.message}\nMain goes on with the Worker it has.`));
    }
    isBusy = false;
  }

  async function rebundle(): Promise<void> {
    // Looked for anew before it is read: what changes while we bundle is not missed.
    files.setFiles(inputs, true);
    const next = await bundleWorker(first.entry, version, { stay: true });
    inputs = next.inputs;
    files.setFiles(inputs, false);
    if (isClosed || listWorkers()[0]?.label === next.label) return;
    say("The Worker has changed; main starts again with it.");
    await renew(await installWorker(next, run, listWorkers()));
  }

  return {
    close() {
      isClosed = true;
      files.close();
    },
  };
}
