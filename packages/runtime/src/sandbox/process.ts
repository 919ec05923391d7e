import { WorkerEntrypoint } from "cloudflare:workers";
import type { AgentRequest, AgentRunHost } from "./agent-run.ts";
import { createAgentHostBridge } from "./process/agent-host-bridge.ts";
import { type AgentEntrypoint, createAgentIsolate } from "./process/agent-isolate.ts";
import { createErrorResponse } from "./process/error-response.ts";
import { type IsolateEntrypoint, createIsolateCode, createShellCode, createStripperCode } from "./process/isolate.ts";
import { agentModule } from "./process/names.ts";
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
 * The Worker of a sandbox process, or bound as a service without a daemon. Responds to the supervisor's ping. Code
 * arrives over RPC and gets an isolate: a run gets its own, which is discarded with it; an app's isolate stays.
 */
export default class Sandbox extends WorkerEntrypoint<SandboxProcessEnv> implements SandboxService {
  override fetch(): Response {
    return new Response("alive");
  }

  async run(job: Job, host: RunHost): Promise<unknown> {
    const bridge = new RunHostBridge(host);
    let prepared: Awaited<ReturnType<typeof prepareJob>> | undefined;
    try {
      prepared = await prepareJob(job, this.#stripper, job.files ? createModuleFinder(bridge.host) : undefined);
      const { exportsDefault } = prepared;
      const { input } = job;
      const settings = input === undefined ? { exportsDefault } : { exportsDefault, input };
      return await getEntrypoint(this.env.LOADER.load(createIsolateCode(prepared, settings))).run(bridge.host);
    } catch (error) {
      return { ok: false, ...toRunFailure(error, prepared), console: bridge.console };
    } finally {
      bridge.close();
    }
  }

  async serve(app: App, request: Request, host: RunHost): Promise<Response> {
    const bridge = new RunHostBridge(host);
    try {
      // Prepared once per lifetime of its isolate.
      const loaded = this.env.LOADER.get(app.id, async () => {
        const prepared = await prepareApp(app, this.#stripper);
        return createIsolateCode(prepared, { main: prepared.main });
      });
      return await getEntrypoint(loaded).serve(request, bridge.host);
    } catch (error) {
      return createErrorResponse((await this.#toRunFailure(app, error)).message);
    } finally {
      bridge.close();
    }
  }

  async agent(request: AgentRequest, host: AgentRunHost): Promise<unknown> {
    const bridge = createAgentHostBridge(host);
    const { isolateId, route, payload } = request;
    const sources: Record<string, string> = {};
    try {
      const load = async () => {
        const code = await bridge.host.readCode();
        sources[agentModule] = code.code;
        return createAgentIsolate(code);
      };
      const loaded =
        isolateId === undefined ? this.env.LOADER.load(await load()) : this.env.LOADER.get(`agent ${isolateId}`, load);
      return await getEntrypoint<AgentEntrypoint>(loaded).handle(route, payload, bridge.host);
    } catch (error) {
      return { ok: false, ...toRunFailure(error, { columnMaps: {}, sources, headerLines: 0 }) };
    } finally {
      bridge.close();
    }
  }

  shell(job: ShellJob, host: ShellHost): Promise<unknown> {
    return this.#runInShell(job.agent, host, (shell, bridge) => shell.shell(job, bridge));
  }

  search(job: SearchJob, host: ShellHost): Promise<unknown> {
    return this.#runInShell(job.agent, host, (shell, bridge) => shell.search(job, bridge));
  }

  async #runInShell(
    agent: string,
    host: ShellHost,
    work: (shell: ShellEntrypoint, bridge: ShellHost) => Promise<unknown>,
  ): Promise<unknown> {
    const { bridge, close } = createShellHostBridge(host);
    try {
      // Cannot collide with the id of an app.
      return await work(
        getEntrypoint<ShellEntrypoint>(this.env.LOADER.get(`shell of ${agent}`, createShellCode)),
        bridge,
      );
    } catch (error) {
      const { kind, message } = toRunFailure(error);
      return { ok: false, kind: kind === "limit" ? kind : "threw", message, console: "" };
    } finally {
      close();
    }
  }

  /** The loader drops details of errors in an app's source, so they are determined again. */
  async #toRunFailure(app: App, error: unknown): Promise<RunFailure> {
    try {
      return toRunFailure(error, await prepareApp(app, this.#stripper));
    } catch (sourceError) {
      return toRunFailure(sourceError);
    }
  }

  readonly #stripper: Stripper = (source) =>
    getEntrypoint<{ strip: Stripper }>(this.env.LOADER.get("typescript", createStripperCode)).strip(source);
}

/** The RPC interface of a shell's isolate. */
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

function getEntrypoint<Entrypoint = IsolateEntrypoint>(worker: WorkerStub): Entrypoint {
  return worker.getEntrypoint() as unknown as Entrypoint;
}
