import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { fail, isThinkeryError, type PolicyRule } from "@thinkery/sdk";
import type {
  LinuxLimits,
  ModelConfig,
  SandboxLimits,
  SubagentLimits,
  TurnLimits,
  WorkspaceLimits,
} from "@thinkery/sdk/internal";
import type { ModelVariables } from "../config/providers.ts";
import { toHomeError } from "../home/home-error.ts";
import type { Home } from "../home/home.ts";
import { ensureSigningKey, ensureToken } from "../home/token.ts";
import { openScriptFolders } from "../scripts/folders.ts";
import { toBindAddress, checkExposure, toHostUrl } from "./address.ts";
import { claimHome } from "./claim.ts";
import { createControlRoutes, getControlSocket, type HostIntroduction } from "./control.ts";
import { removeDaemonFile, writeDaemonFile } from "./discovery.ts";
import { createHostProcesses, getHostSocket } from "./host-processes.ts";
import type { Limits } from "./limits.ts";
import { openLinux } from "./linux/open.ts";
import { createLinuxRoutes } from "./linux/routes.ts";
import { hostLogName, openLog } from "./log.ts";
import type { MainOptions } from "./main.ts";
import { locateParts, type BuildParts } from "./parts.ts";
import { serveRoutes } from "./serve.ts";
import { createHostRoutes } from "./services.ts";
import { createShutdown, type StopOutcome } from "./shutdown.ts";
import { followWorker } from "./worker/follow.ts";
import { bundleWorker, installWorker } from "./worker/worker.ts";

export interface HostOptions {
  home: Home;
  host: string;
  port: number;
  /** Fail rather than use another port. */
  isPortFixed: boolean;
  slots: number;
  /** Sandboxes for user agents. */
  agentSlots: number;
  allowedHosts: string[];
  allowedOrigins: string[];
  toolOrigins: string[];
  /** Set explicitly by the user. Required to listen on an address other than loopback. */
  adminToken?: string;
  /** Names of the model providers with a key. */
  providers: string[];
  models: ModelConfig;
  /** API keys and base URLs of models, from the environment. */
  modelVariables: ModelVariables;
  turn: TurnLimits;
  policy: PolicyRule[];
  subagents: SubagentLimits;
  /** Limits for agents' code and commands. */
  sandbox: SandboxLimits;
  linux: LinuxLimits;
  workspace: WorkspaceLimits;
  /** Folders with scripts for scripted models; earlier folders take precedence. */
  scriptFolders: string[];
  /** Called with user-facing messages about the host. */
  onLine?(line: string): void;
  /** A file that main runs in place of the stock Worker; with `watch`, it is bundled again whenever it changes. */
  worker?: { entry: string; watch: boolean };
  parts?: BuildParts;
  limits?: Partial<Limits>;
  configure?: MainOptions["configure"];
}

export interface RunningHost {
  url: string;
  host: string;
  port: number;
  token: string;
  stop(): Promise<void>;
  stopped: Promise<StopOutcome>;
}

/** How long stopping waits for running work. */
const drainMs = 5_000;

/** Starts the host; resolves when main responds. */
export async function runHost(options: HostOptions): Promise<RunningHost> {
  const { home } = options;
  const address = toBindAddress(options.host);
  checkExposure(address, options.adminToken);
  const parts = options.parts ?? locateParts();
  const lock = await claimHome(home);
  const shutdown = createShutdown();
  shutdown.addStep(() => lock.release());
  try {
    const log = openLog(home.logs, hostLogName);
    shutdown.addStep(() => log.close());
    const [token, signingKey] = await Promise.all([ensureToken(home, options.adminToken), ensureSigningKey(home)]);
    log.redact([token, signingKey, ...options.modelVariables.secrets]);

    // A clean stop removes the file.
    const after = existsSync(home.daemonFile) ? "crash" : "stop";
    const startedAt = new Date().toISOString();
    const { version } = parts;
    const bundledWorker =
      options.worker && (await bundleWorker(options.worker.entry, version, { stay: options.worker.watch }));
    const worker = bundledWorker && (await installWorker(bundledWorker, home.run));
    const about = {
      pid: process.pid,
      host: address,
      startedAt,
      version,
      ...(bundledWorker ? { worker: bundledWorker.entry } : {}),
    };
    const introduction: HostIntroduction = { ...about, port: options.port, ready: false };
    const stop = (outcome: StopOutcome) => {
      introduction.ready = false;
      return shutdown.run(outcome);
    };
    const report = (line: string) => {
      log.writeLine("daemon", line);
      options.onLine?.(line);
    };

    const hostKey = randomBytes(32).toString("hex");
    const adminTokenHash = createHash("sha256").update(token).digest("hex");
    let started = false;
    const processes = createHostProcesses({
      ...options,
      address,
      parts,
      worker,
      lockFd: lock.fd,
      signingKey,
      adminToken: token,
      variables: options.modelVariables.variables,
      after,
      hostKey,
      adminTokenHash,
      startedAt,
      limits: options.limits,
      onLine: log.writeLine,
      onEvent: report,
      onMainLost(reason) {
        log.writeLine("daemon", reason);
        // Until then, startMain() rejects.
        if (started) void stop({ reason: "failed", message: reason });
      },
    });

    const controls = {
      status: processes.getStatus,
      renewSlot: processes.renewSlot,
      stop: () => void stop({ reason: "requested" }),
      introduce: () => introduction,
    };
    const linux = openLinux({ home, limits: options.linux, onError: (text) => log.writeLine("linux", text) });
    shutdown.addStep(() => linux.close());
    const services = await serveRoutes(
      getHostSocket(home.run),
      createHostRoutes(hostKey, controls, openScriptFolders(options.scriptFolders), createLinuxRoutes(linux)),
    );
    shutdown.addStep(services.close);
    const control = await serveRoutes(getControlSocket(home), createControlRoutes(token, controls));
    shutdown.addStep(control.close);

    shutdown.addStep(() => processes.stop(drainMs));
    await processes.startMain().catch((error: Error) => {
      throw isThinkeryError(error) ? error : fail("unavailable", `${error.message} The log is ${log.file}.`);
    });

    started = true;

    const port = processes.getPort();
    shutdown.addStep(() => removeDaemonFile(home, process.pid));
    await writeDaemonFile(home, { ...about, port });
    if (shutdown.hasBegun()) throw fail("unavailable", "The host was stopped during startup.");
    Object.assign(introduction, { port, ready: true });
    processes.startSlots();
    if (bundledWorker && options.worker?.watch) {
      const { listWorkers, renewMain } = processes;
      shutdown.addStep(
        followWorker(bundledWorker, {
          version,
          run: home.run,
          report,
          listWorkers,
          renew: (next) => renewMain(next, drainMs),
        }).close,
      );
    }
    const url = toHostUrl(address, port);
    log.writeLine("daemon", `ready at ${url}`);
    return { url, host: address, port, token, stop: () => stop({ reason: "requested" }), stopped: shutdown.done };
  } catch (error) {
    await shutdown.run({ reason: "failed" });
    throw (error as NodeJS.ErrnoException).syscall ? toHomeError(home.path, error) : error;
  }
}

/**
 * The first signal stops the host gracefully, the second exits at once. Child processes cannot outlive us either way.
 */
export function stopOnSignals(host: RunningHost): void {
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) process.exit(130);
    isStopping = true;
    void host.stop();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  void host.stopped.then(() => {
    for (const signal of signals) process.off(signal, onSignal);
  });
}
