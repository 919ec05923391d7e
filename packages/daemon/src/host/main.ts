import { randomUUID } from "node:crypto";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Boot } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { choosePort } from "./address.ts";
import type { BuildParts } from "./parts.ts";
import { drainMain, pingMain, getWrongAnswer } from "./ping.ts";
import type { Child } from "./process.ts";
import type { ChildSpec } from "./supervise.ts";
import type { WorkerChoice } from "./worker/choice.ts";
import { formatMainConfig, signingKeyVariable, type MainConfig } from "./workerd-config.ts";
import { prepareWorkerd, startWorkerd } from "./workerd.ts";

type PassedOption =
  | "hostSocket"
  | "hostKey"
  | "sandboxSockets"
  | "adminTokenHash"
  | "startedAt"
  | "allowedHosts"
  | "allowedOrigins"
  | "toolOrigins"
  | "providers"
  | "models"
  | "turn"
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
  /** Keys and addresses of models, which reach main by its environment. */
  variables: Record<string, string>;
  /** How the host before this one ended. */
  after: Boot["after"];
  parts: BuildParts;
  choice: WorkerChoice;
  /** Writes main's configuration in another way than usual, for tests. */
  configure?: ((config: MainConfig) => string) | undefined;
}

/** The workerd that holds the Durable Objects and answers clients. */
export function createMainChild(options: MainOptions) {
  const { home, address, isPortFixed, lockFd, signingKey, variables, parts, choice } = options;
  const configFile = join(home.run, "main.capnp");
  const mainSocket = join(home.run, "main.sock");
  let port = options.port;
  let hasAnswered = false;
  let { after } = options;
  let child: Child | undefined;

  return {
    name: "main",
    port: () => port,
    async prepare() {
      choice.begin();
      // Another program can take the port between our look and workerd's bind; until clients know it, we may move.
      if (!hasAnswered) port = await choosePort(address, options.port, isPortFixed);
      const config: MainConfig = {
        ...options,
        host: address,
        port,
        mainSocket,
        modules: choice.getCurrent()?.modules ?? parts.main,
        slotPool: parts.slotPool,
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
        env: { ...variables, [signingKeyVariable]: signingKey },
        lockFd,
        onLine: handleLine,
      });
      // From here on it may have work under way. One that could not even listen changes nothing for the next.
      void child.listening.then(() => {
        after = "crash";
      });
      return child;
    },
    async ping(signal) {
      await pingMain(address, port, signal).catch((error: Error) => {
        const wrong = getWrongAnswer(error);
        if (wrong && !choice.recordAnswer(wrong)) child?.kill("SIGKILL");
        throw error;
      });
      hasAnswered = true;
      choice.recordAnswer();
    },
    diagnose: choice.diagnose,
    drain(signal) {
      // Whoever asks for it ends main on purpose.
      after = "stop";
      return drainMain(mainSocket, signal);
    },
  } satisfies Partial<ChildSpec> & { port(): number };
}

// The name a client uses for the address it was told, in the form of a Host header.
function listOwnNames(address: string): string[] {
  const own = address === "0.0.0.0" || address === "::" ? [] : [isIPv6(address) ? `[${address}]` : address];
  return ["127.0.0.1", "localhost", "[::1]", ...own];
}
