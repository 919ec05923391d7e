import { WorkerEntrypoint } from "cloudflare:workers";
import { createErrorResponse } from "./process/error-response.ts";
import { type IsolateEntrypoint, createIsolateCode, createShellCode, createStripperCode } from "./process/isolate.ts";
import { type RunFailure, toRunFailure } from "./process/run-failure.ts";
import { RunHostBridge } from "./process/run-host-bridge.ts";
import { createShellHostBridge } from "./process/shell/shell-host-bridge.ts";
import { type ModuleFinder, prepareApp, prepareJob } from "./process/source.ts";
import type { Stripper } from "./process/typescript.ts";
import type { App, Job, RunHost, SandboxService } from "./run.ts";
import type { SearchJob, ShellHost, ShellJob } from "./shell.ts";

interface SandboxProcessEnv {
  LOADER: WorkerLoader;
}

/**
 * What runs inside a sandbox process, or is bound as a service where there is no daemon. It answers the supervisor's
 * ping. Code arrives over RPC and gets an isolate: a run one of its own that goes away with it, an app one that stays.
 */
export default class Sandbox extends WorkerEntrypoint<SandboxProcessEnv> implements SandboxService {
  override fetch(): Response {
    return new Response("alive");
  }

  async run(job: Job, host: RunHost): Promise<unknown> {
    const bridge = new RunHostBridge(host);
    let prepared: Awaited<ReturnType<typeof prepareJob>> | undefined;
    try {
      prepared = await prepareJob(job, this.#stripper, job.files ? createModuleFinder(bridge.inside) : undefined);
      const { exportsDefault } = prepared;
      const { input } = job;
      const setting = input === undefined ? { exportsDefault } : { exportsDefault, input };
      return await getEntrypoint(this.env.LOADER.load(createIsolateCode(prepared, setting))).run(bridge.inside);
    } catch (error) {
      return { ok: false, ...toRunFailure(error, prepared), console: bridge.console };
    } finally {
      bridge.shut();
    }
  }

  async serve(app: App, request: Request, host: RunHost): Promise<Response> {
    const bridge = new RunHostBridge(host);
    try {
      // Read once, for as long as its isolate lives.
      const loaded = this.env.LOADER.get(app.id, async () => {
        const prepared = await prepareApp(app, this.#stripper);
        return createIsolateCode(prepared, { main: prepared.main });
      });
      return await getEntrypoint(loaded).serve(request, bridge.inside);
    } catch (error) {
      return createErrorResponse((await this.#toRunFailure(app, error)).message);
    } finally {
      bridge.shut();
    }
  }

  shell(job: ShellJob, host: ShellHost): Promise<unknown> {
    return this.#runInShell(job.agent, host, (shell, inside) => shell.shell(job, inside));
  }

  search(job: SearchJob, host: ShellHost): Promise<unknown> {
    return this.#runInShell(job.agent, host, (shell, inside) => shell.search(job, inside));
  }

  async #runInShell(
    agent: string,
    host: ShellHost,
    work: (shell: ShellEntrypoint, inside: ShellHost) => Promise<unknown>,
  ): Promise<unknown> {
    const { inside, shut } = createShellHostBridge(host);
    try {
      // No app has such an id.
      return await work(
        getEntrypoint<ShellEntrypoint>(this.env.LOADER.get(`shell of ${agent}`, createShellCode)),
        inside,
      );
    } catch (error) {
      const { kind, message } = toRunFailure(error);
      return { ok: false, kind: kind === "limit" ? kind : "threw", message, console: "" };
    } finally {
      shut();
    }
  }

  /** What was wrong with an app's source is forgotten on the way through the loader, so it is looked for again. */
  async #toRunFailure(app: App, error: unknown): Promise<RunFailure> {
    try {
      return toRunFailure(error, await prepareApp(app, this.#stripper));
    } catch (problem) {
      return toRunFailure(problem);
    }
  }

  readonly #stripper: Stripper = (given) =>
    getEntrypoint<{ strip: Stripper }>(this.env.LOADER.get("typescript", createStripperCode)).strip(given);
}

/** What is inside the isolate of a shell, from outside. */
interface ShellEntrypoint {
  shell(job: ShellJob, host: ShellHost): Promise<unknown>;
  search(job: SearchJob, host: ShellHost): Promise<unknown>;
}

function createModuleFinder(host: RunHost): ModuleFinder {
  return async (paths) =>
    (JSON.parse((await host.call("files.module", JSON.stringify(paths))) || "null") as Awaited<
      ReturnType<ModuleFinder>
    > | null) ?? undefined;
}

function getEntrypoint<Inside = IsolateEntrypoint>(worker: WorkerStub): Inside {
  return worker.getEntrypoint() as unknown as Inside;
}
