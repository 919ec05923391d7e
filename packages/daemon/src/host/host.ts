import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { fail, isThinkeryError } from "@thinkery/sdk";
import type { LinuxLimits, ModelConfig, SandboxLimits, TurnLimits, WorkspaceLimits } from "@thinkery/sdk/internal";
import type { ModelVariables } from "../config/providers.ts";
import type { Home } from "../home/home.ts";
import { ensureSigningKey, ensureToken } from "../home/token.ts";
import { homeTrouble } from "../home/trouble.ts";
import { openScriptFolders } from "../scripts/folders.ts";
import { bindAddress, checkExposure, hostUrl } from "./address.ts";
import { claimHome } from "./claim.ts";
import { controlRoutes, controlSocket, type Introduction } from "./control.ts";
import { crew, hostSocket } from "./crew.ts";
import { removeDaemonFile, writeDaemonFile } from "./discovery.ts";
import { ending, type Outcome } from "./ending.ts";
import type { Limits } from "./limits.ts";
import { openLinux } from "./linux/open.ts";
import { linuxRoutes } from "./linux/routes.ts";
import { hostLogName, openLog } from "./log.ts";
import type { MainOptions } from "./main.ts";
import { builtParts, type Parts } from "./parts.ts";
import { serve } from "./serve.ts";
import { hostServices } from "./services.ts";
import { followWorker } from "./worker/follow.ts";
import { bundleWorker, layWorker } from "./worker/worker.ts";

export interface HostOptions {
  home: Home;
  host: string;
  port: number;
  /** This very port was asked for, so no other will do. */
  portGiven: boolean;
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
  parts?: Parts;
  limits?: Partial<Limits>;
  configure?: MainOptions["configure"];
}

export interface RunningHost {
  url: string;
  host: string;
  port: number;
  token: string;
  stop(): Promise<void>;
  stopped: Promise<Outcome>;
}

/** How long a stop waits for work that is under way. */
const drainMs = 5_000;

/** Starts the whole host and comes back when main answers. */
export async function runHost(options: HostOptions): Promise<RunningHost> {
  const { home } = options;
  const address = bindAddress(options.host);
  checkExposure(address, options.adminToken);
  const parts = options.parts ?? builtParts();
  const lock = await claimHome(home);
  const end = ending();
  end.undo(() => lock.release());
  try {
    const log = openLog(home.logs, hostLogName);
    end.undo(() => log.close());
    const [token, signingKey] = await Promise.all([ensureToken(home, options.adminToken), ensureSigningKey(home)]);
    log.redact(token);
    log.redact(signingKey);
    // A word too short to be a key would only make the log unreadable.
    for (const secret of options.modelVariables.secrets.filter(({ length }) => length >= 8)) log.redact(secret);

    // A clean stop takes the file away.
    const after = existsSync(home.daemonFile) ? "crash" : "stop";
    const startedAt = new Date().toISOString();
    const { version } = parts;
    const own = options.worker && (await bundleWorker(options.worker.entry, version, { stay: options.worker.watch }));
    const worker = own && (await layWorker(own, home.run));
    const about = { pid: process.pid, host: address, startedAt, version, ...(own ? { worker: own.entry } : {}) };
    const introduction: Introduction = { ...about, port: options.port, ready: false };
    const stop = (outcome: Outcome) => {
      introduction.ready = false;
      return end.end(outcome);
    };
    const say = (line: string) => {
      log.line("daemon", line);
      options.onLine?.(line);
    };

    const hostKey = randomBytes(32).toString("hex");
    const adminTokenHash = createHash("sha256").update(token).digest("hex");
    let started = false;
    const processes = crew({
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
      onLine: log.line,
      onEvent: say,
      onMainLost(reason) {
        log.line("daemon", reason);
        // Before that, the start itself fails.
        if (started) void stop({ reason: "failed", message: reason });
      },
    });

    const asked = { status: processes.status, renewSlot: processes.renewSlot, stop: () => void stop({ reason: "asked" }), introduce: () => introduction };
    const linux = openLinux({ home, limits: options.linux, onTrouble: (text) => log.line("linux", text) });
    end.undo(() => linux.close());
    const services = await serve(hostSocket(home.run), hostServices(hostKey, asked, openScriptFolders(options.scriptFolders), linuxRoutes(linux)));
    end.undo(services.close);
    const control = await serve(controlSocket(home), controlRoutes(token, asked));
    end.undo(control.close);

    end.undo(() => processes.stop(drainMs));
    await processes.startMain().catch((error: Error) => {
      throw isThinkeryError(error) ? error : fail("unavailable", `${error.message} The log is ${log.file}.`);
    });

    started = true;

    const port = processes.port();
    end.undo(() => removeDaemonFile(home, process.pid));
    await writeDaemonFile(home, { ...about, port });
    if (end.begun()) throw fail("unavailable", "The host was stopped while it started.");
    Object.assign(introduction, { port, ready: true });
    processes.startSlots();
    if (own && options.worker?.watch) {
      const { workers, renewMain } = processes;
      end.undo(followWorker(own, { version, run: home.run, say, workers, renew: (next) => renewMain(next, drainMs) }).close);
    }
    const url = hostUrl(address, port);
    log.line("daemon", `ready at ${url}`);
    return { url, host: address, port, token, stop: () => stop({ reason: "asked" }), stopped: end.ended };
  } catch (error) {
    await end.end({ reason: "failed" });
    throw (error as NodeJS.ErrnoException).syscall ? homeTrouble(home.path, error) : error;
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
