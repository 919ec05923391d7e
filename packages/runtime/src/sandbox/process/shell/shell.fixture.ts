import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleAlone } from "../../../../build.mjs";
import type { PolicyRule } from "../../../policy/evaluate-policy.ts";
import type { SearchJob, SearchOutcome, ShellHost, ShellJob, ShellOutcome, ShellState, ViewFile } from "../../shell.ts";

interface Shell {
  shell(job: ShellJob, host: ShellHost): Promise<ShellOutcome>;
  search(job: SearchJob, host: ShellHost): Promise<SearchOutcome>;
}

interface ShellTestOptions {
  files?: readonly ViewFile[];
  state?: Partial<ShellState>;
  rules?: readonly PolicyRule[];
  limits?: Partial<ShellJob["limits"]>;
  host?: Partial<ShellHost>;
}

export type SuccessfulOutcome = Extract<ShellOutcome, { ok: true }>;

/** Opens the shell's bundle, built as for its isolate, and runs commands with it in Node. */
export async function openBundle() {
  const bundle = await bundleAlone(fileURLToPath(new URL("./shell.ts", import.meta.url)));
  const folder = await mkdtemp(join(tmpdir(), "shell-"));
  const file = join(folder, "shell.mjs");
  await writeFile(
    file,
    (bundle.outputFiles[0]?.text ?? "").replace(
      '"cloudflare:workers"',
      '"data:text/javascript,export class WorkerEntrypoint {}"',
    ),
  );
  const collation = new Collation();
  const { default: Shell } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    default: new () => Shell;
  };
  collation.takeOver();
  await rm(folder, { recursive: true });
  const shell = new Shell();
  let viewCount = 0;
  return {
    async run(
      command: string,
      { files = [], state = {}, rules = [], limits = {}, host = {} }: ShellTestOptions = {},
    ): Promise<SuccessfulOutcome> {
      const outcome = await collation.during(() =>
        shell.shell(
          {
            agent: "global~ada",
            command,
            view: { id: `${++viewCount}`, version: 1, files, gone: [] },
            state: { cwd: "/work", env: {}, folders: [], scratch: [], ...state },
            limits: {
              timeoutMs: 10_000,
              outputBytes: 100_000,
              loops: 100_000,
              commands: 10_000,
              depth: 100,
              ...limits,
            },
            rules: { policy: rules, grants: [] },
            network: host.fetch !== undefined,
          },
          { read: async () => undefined, fetch: async () => "", ...host },
        ),
      );
      if (!outcome.ok) throw new Error(outcome.message);
      return outcome;
    },
  };
}

export type Bundle = Awaited<ReturnType<typeof openBundle>>;

/**
 * The bundle replaces `String.prototype.localeCompare` (collation.ts). In Node it shares that with other tests, so the
 * replacement is only active while a command runs.
 */
class Collation {
  readonly #native = String.prototype.localeCompare;
  #own = this.#native;
  #running = 0;

  takeOver(): void {
    this.#own = String.prototype.localeCompare;
    this.#use(this.#native);
  }

  async during<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#use(this.#own);
    try {
      return await run();
    } finally {
      if (--this.#running === 0) this.#use(this.#native);
    }
  }

  #use(compare: typeof String.prototype.localeCompare): void {
    // oxlint-disable-next-line no-extend-native -- restores the original
    String.prototype.localeCompare = compare;
  }
}
