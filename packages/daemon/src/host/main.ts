import { randomUUID } from "node:crypto";
import { chmod } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Boot } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { choosePort } from "./address.ts";
import type { BuildParts } from "./parts.ts";
import { drainMain, pingMain, getUnexpectedResponse } from "./ping.ts";
import type { Child } from "./process.ts";
import type { ChildSpec } from "./supervise.ts";
import type { WorkerChoice } from "./worker/choice.ts";
import { adminTokenVariable, formatMainConfig, signingKeyVariable, type MainConfig } from "./workerd-config.ts";
import { prepareWorkerd, startWorkerd } from "./workerd.ts";

type PassedOption =
  | "hostSocket"
  | "hostKey"
  | "sandboxSockets"
  | "agentSlots"
  | "adminTokenHash"
  | "startedAt"
  | "allowedHosts"
  | "allowedOrigins"
  | "toolOrigins"
  | "providers"
  | "models"
  | "turn"
  | "policy"
  | "subagents"
  | "sandbox"
  | "linux"
  | "workspace";

export interface MainOptions extends Pick<MainConfig, PassedOption> {
  home: Home;
  address: string;
  port: number;
  isPortFixed: boolean;
  lockFd: number;
  signingKey: string;
  adminToken: string;
  /** API keys and base URLs of models, passed to main in its environment. */
  variables: Record<string, string>;
  /** How the previous host ended. */
  after: Boot["after"];
  parts: BuildParts;
  choice: WorkerChoice;
  /** Replaces the configuration writer, for tests. */
  configure?: ((config: MainConfig) => string) | undefined;
}

/** Describes the workerd process that holds the Durable Objects and serves clients. */
export function createMainChild(options: MainOptions) {
  const { home, address, isPortFixed, lockFd, signingKey, adminToken, variables, parts, choice } = options;
  const configFile = join(home.run, "main.capnp");
  const mainSocket = join(home.run, "main.sock");
  let port = options.port;
  let hasResponded = false;
  let { after } = options;
  let child: Child | undefined;

  return {
    name: "main",
    port: () => port,
    async prepare() {
      choice.begin();
      // Another program can take the port between our check and workerd's bind. Until clients know the port, we may
      // change it.
      if (!hasResponded) port = await choosePort(address, options.port, isPortFixed);
      const config: MainConfig = {
        ...options,
        host: address,
        port,
        mainSocket,
        modules: choice.getCurrent()?.modules ?? parts.main,
        slotPool: parts.slotPool,
        blobIndex: parts.blobIndex,
        page: parts.page,
        version: parts.version,
        objects: home.objects,
        blobs: home.blobs,
        variables: Object.keys(variables),
        boot: { id: randomUUID(), after },
        allowedHosts: [
          ...new Set([...listOwnNames(address), ...options.allowedHosts.map((name) => name.toLowerCase())]),
        ],
      };
      await prepareWorkerd(configFile, (options.configure ?? formatMainConfig)(config), mainSocket);
    },
    start(onLine) {
      const handleLine = (line: string) => {
        onLine(line);
        choice.addLine(line);
      };
      child = startWorkerd({
        configFile,
        env: { ...variables, [signingKeyVariable]: signingKey, [adminTokenVariable]: adminToken },
        lockFd,
        onLine: handleLine,
      });
      // From here on it may have running work. A process that never listened leaves `after` unchanged.
      const listening = child.listening.then(async () => {
        after = "crash";
        // Only the owner can open it anyway, because of the umask.
        await chmod(mainSocket, 0o600).catch(() => {});
      });
      return { ...child, listening };
    },
    async ping(signal) {
      await pingMain(address, port, signal).catch((error: Error) => {
        const unexpected = getUnexpectedResponse(error);
        if (unexpected && !choice.recordResponse(unexpected)) child?.kill("SIGKILL");
        throw error;
      });
      hasResponded = true;
      choice.recordResponse();
    },
    diagnose: choice.diagnose,
    drain(signal) {
      // Main is drained only to end it on purpose.
      after = "stop";
      return drainMain(mainSocket, signal);
    },
  } satisfies Partial<ChildSpec> & { port(): number };
}

// The names by which clients address main, as they appear in a Host header.
function listOwnNames(address: string): string[] {
  const own = address === "0.0.0.0" || address === "::" ? [] : [isIPv6(address) ? `[${address}]` : address];
  return ["127.0.0.1", "localhost", "[::1]", ...own];
}
