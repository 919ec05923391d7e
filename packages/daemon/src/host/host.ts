import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { fail, isThinkeryError } from "@thinkery/sdk";
import type { LinuxLimits, ModelConfig, SandboxLimits, TurnLimits, WorkspaceLimits } from "@thinkery/sdk/internal";
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
  /** This very port was asked for, so no other will do. */
  isPortFixed: boolean;
  slots: number;
  allowedHosts: string[];
  allowedOrigins: string[];
  toolOrigins: string[];
  /** Set on purpose; without one, only this machine may be listened on. */
  adminToken?: string;
  /** Names of the model providers that have a key. */
  providers: string[];
  models: ModelConfig;
  /** Keys and addresses of models, from the environment. */
  modelVariables: ModelVariables;
  turn: TurnLimits;
  /** What code and commands of agents may use. */
  sandbox: SandboxLimits;
  linux: LinuxLimits;
  workspace: WorkspaceLimits;
  /** Where scripts of scripted models lie; earlier folders win. */
  scriptFolders: string[];
  /** What happens to the host, for people. */
  onLine?(line: string): void;
  /** A file that main runs in place of the stock Worker; bundled anew when it changes, if it is watched. */
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

/** How long a stop waits for work that is under way. */
const drainMs = 5_000;

/** Starts the whole host and comes back when main answers. */
export async function runHost(options: HostOptions): Promise<RunningHost> {
  const { home } = options;
  const address = toBindAddress(options.host);
  checkExposure(address, options.adminToken);
  const parts = options.parts ?? locateParts();
  const lock = await claimHome(home);
  const end = createShutdown();
  end.addStep(() => lock.release());
  try {
    const log = openLog(home.logs, hostLogName);
    end.addStep(() => log.close());
    const [token, signingKey] = await Promise.all([ensureToken(home, options.adminToken), ensureSigningKey(home)]);
    log.redact(token);
    log.redact(signingKey);
    // A word too short to be a key would only make the log unreadable.
    for (const secret of options.modelVariables.secrets.filter(({ length }) => length >= 8)) log.redact(secret);

    // A clean stop takes the file away.
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
      return end.run(outcome);
    };
    const say = (line: string) => {
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
      variables: options.modelVariables.variables,
      after,
      hostKey,
      adminTokenHash,
      startedAt,
      limits: options.limits,
      onLine: log.writeLine,
      onEvent: say,
      onMainLost(reason) {
        log.writeLine("daemon", reason);
        // Before that, the start itself fails.
        if (started) void stop({ reason: "failed", message: reason });
      },
    });

    const asked = {
      status: processes.getStatus,
      renewSlot: processes.renewSlot,
      stop: () => void stop({ reason: "asked" }),
      introduce: () => introduction,
    };
    const linux = openLinux({ home, limits: options.linux, onError: (text) => log.writeLine("linux", text) });
    end.addStep(() => linux.close());
    const services = await serveRoutes(
      getHostSocket(home.run),
      createHostRoutes(hostKey, asked, openScriptFolders(options.scriptFolders), createLinuxRoutes(linux)),
    );
    end.addStep(services.close);
    const control = await serveRoutes(getControlSocket(home), createControlRoutes(token, asked));
    end.addStep(control.close);

    end.addStep(() => processes.stop(drainMs));
    await processes.startMain().catch((error: Error) => {
      throw isThinkeryError(error) ? error : fail("unavailable", `${error.message} The log is ${log.file}.`);
    });

    started = true;

    const port = processes.getPort();
    end.addStep(() => removeDaemonFile(home, process.pid));
    await writeDaemonFile(home, { ...about, port });
    if (end.hasBegun()) throw fail("unavailable", "The host was stopped while it started.");
    Object.assign(introduction, { port, ready: true });
    processes.startSlots();
    if (bundledWorker && options.worker?.watch) {
      const { listWorkers, renewMain } = processes;
      end.addStep(
        followWorker(bundledWorker, {
          version,
          run: home.run,
          say,
          listWorkers,
          renew: (next) => renewMain(next, drainMs),
        }).close,
      );
    }
    const url = toHostUrl(address, port);
    log.writeLine("daemon", `ready at ${url}`);
    return { url, host: address, port, token, stop: () => stop({ reason: "asked" }), stopped: end.done };
  } catch (error) {
    await end.run({ reason: "failed" });
    throw (error as NodeJS.ErrnoException).syscall ? toHomeError(home.path, error) : error;
  }
}

/** The first signal asks for a stop, the second ends at once; the children cannot outlive us either way. */
export function stopOnSignals(host: RunningHost): void {
  let asked = false;
  const onSignal = () => {
    if (asked) process.exit(130);
    asked = true;
    void host.stop();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  void host.stopped.then(() => {
    for (const signal of signals) process.off(signal, onSignal);
  });
}
