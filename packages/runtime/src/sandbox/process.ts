import { WorkerEntrypoint } from "cloudflare:workers";
import { failedAnswer } from "./process/answer.ts";
import { type Inmate, isolate, shellIsolate, stripperIsolate } from "./process/isolate.ts";
import { type Trouble, troubleOf } from "./process/lost.ts";
import { Passage } from "./process/passage.ts";
import { shellPassage } from "./process/shell/passage.ts";
import { type Finder, prepareApp, prepareJob } from "./process/source.ts";
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
    const passage = new Passage(host);
    let prepared: Awaited<ReturnType<typeof prepareJob>> | undefined;
    try {
      prepared = await prepareJob(job, this.#stripper, job.files ? finderThrough(passage.inside) : undefined);
      const { exportsDefault } = prepared;
      const { input } = job;
      const setting = input === undefined ? { exportsDefault } : { exportsDefault, input };
      return await inmate(this.env.LOADER.load(isolate(prepared, setting))).run(passage.inside);
    } catch (error) {
      return { ok: false, ...troubleOf(error, prepared), console: passage.console };
    } finally {
      passage.shut();
    }
  }

  async serve(app: App, request: Request, host: RunHost): Promise<Response> {
    const passage = new Passage(host);
    try {
      // Read once, for as long as its isolate lives.
      const loaded = this.env.LOADER.get(app.id, async () => {
        const prepared = await prepareApp(app, this.#stripper);
        return isolate(prepared, { main: prepared.main });
      });
      return await inmate(loaded).serve(request, passage.inside);
    } catch (error) {
      return failedAnswer((await this.#troubleOf(app, error)).message);
    } finally {
      passage.shut();
    }
  }

  shell(job: ShellJob, host: ShellHost): Promise<unknown> {
    return this.#inShell(job.agent, host, (shell, inside) => shell.shell(job, inside));
  }

  search(job: SearchJob, host: ShellHost): Promise<unknown> {
    return this.#inShell(job.agent, host, (shell, inside) => shell.search(job, inside));
  }

  async #inShell(agent: string, host: ShellHost, work: (shell: ShellInmate, inside: ShellHost) => Promise<unknown>): Promise<unknown> {
    const { inside, shut } = shellPassage(host);
    try {
      // No app has such an id.
      return await work(inmate<ShellInmate>(this.env.LOADER.get(`shell of ${agent}`, shellIsolate)), inside);
    } catch (error) {
      const { kind, message } = troubleOf(error);
      return { ok: false, kind: kind === "limit" ? kind : "threw", message, console: "" };
    } finally {
      shut();
    }
  }

  /** What was wrong with an app's source is forgotten on the way through the loader, so it is looked for again. */
  async #troubleOf(app: App, error: unknown): Promise<Trouble> {
    try {
      return troubleOf(error, await prepareApp(app, this.#stripper));
    } catch (problem) {
      return troubleOf(problem);
    }
  }

  readonly #stripper: Stripper = (given) => inmate<{ strip: Stripper }>(this.env.LOADER.get("typescript", stripperIsolate)).strip(given);
}

/** What is inside the isolate of a shell, from outside. */
interface ShellInmate {
  shell(job: ShellJob, host: ShellHost): Promise<unknown>;
  search(job: SearchJob, host: ShellHost): Promise<unknown>;
}

function finderThrough(host: RunHost): Finder {
  return async (paths) => (JSON.parse((await host.call("files.module", JSON.stringify(paths))) || "null") as Awaited<ReturnType<Finder>> | null) ?? undefined;
}

function inmate<Inside = Inmate>(worker: WorkerStub): Inside {
  return worker.getEntrypoint() as unknown as Inside;
}
