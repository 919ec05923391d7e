import { watchFiles } from "./watch.ts";
import { bundleWorker, type LaidWorker, layWorker, type OwnWorker } from "./worker.ts";

interface FollowOptions {
  /** The host's. */
  version: string;
  /** Where Workers are laid. */
  run: string;
  /** Those main may still be started with, the current one first. */
  workers(): LaidWorker[];
  renew(worker: LaidWorker): Promise<void>;
  say(line: string): void;
}

/** Bundles a Worker again whenever one of its files changes, and has main started with it. */
export function followWorker(first: OwnWorker, options: FollowOptions): { close(): void } {
  const { version, run, workers, renew, say } = options;
  const files = watchFiles(() => void changed(), (error) => say(`Not every change of the Worker will be seen: ${error.message}.`));
  let { inputs } = first;
  let busy = false;
  let again = false;
  let closed = false;
  files.look(inputs, false);

  async function changed(): Promise<void> {
    again = true;
    if (busy) return;
    busy = true;
    while (again && !closed) {
      again = false;
      await round().catch((error: Error) => say(`${error.message}\nMain goes on with the Worker it has.`));
    }
    busy = false;
  }

  async function round(): Promise<void> {
    // Looked for anew before it is read: what changes while we bundle is not missed.
    files.look(inputs, true);
    const next = await bundleWorker(first.entry, version, { stay: true });
    inputs = next.inputs;
    files.look(inputs, false);
    if (closed || workers()[0]?.label === next.label) return;
    say("The Worker has changed; main starts again with it.");
    await renew(await layWorker(next, run, workers()));
  }

  return {
    close() {
      closed = true;
      files.close();
    },
  };
}
