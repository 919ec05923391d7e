import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentHandle, Agents } from "../client/client.ts";
import { type Client, createClient } from "../client/client.ts";
import type { ScriptInput } from "../protocol/script.ts";
import { killMain } from "./control.ts";
import { startDaemon, stopDaemon } from "./daemon.ts";
import { writeHome, createTempFolder } from "./folder.ts";
import { findProgram } from "./program.ts";
import { type ExchangeInput, script } from "./script.ts";

export interface HostOptions {
  /**
   * The file of your Worker: a path, or `new URL("../src/worker.ts", import.meta.url)`. Defaults to the stock Worker.
   */
  worker?: string | URL;
  /** Scripted models by name: `greeter` becomes the model `scripted:greeter`. A URL refers to a YAML file. */
  scripts?: Readonly<Record<string, ScriptSource>>;
  /** The content of `config.jsonc`. */
  config?: object;
  /** Environment variables of the host. It inherits only PATH: none of your keys, home or proxy settings. */
  env?: Readonly<Record<string, string>>;
  /** The path of the `thinkery` program. Defaults to the one of the installed package `thinkery`. */
  program?: string;
}

type ScriptSource = readonly ExchangeInput[] | ScriptInput | URL;

type NewAgent = Omit<NonNullable<Parameters<Agents["create"]>[0]>, "name">;

/** A disposable host with its own data folder and port. Nothing is left of it after `stop()`. */
export interface TestHost extends AsyncDisposable {
  url: string;
  token: string;
  client: Client;
  /** The data folder. */
  home: string;
  /** Creates an agent in the agency `global`. */
  agent(name: string, options?: NewAgent): Promise<AgentHandle>;
  /** Returns the log of its processes so far. */
  log(): Promise<string>;
  /** Stops it gracefully and starts it again, at the same URL. */
  restart(): Promise<void>;
  /** Kills the process that holds the agents (`kill -9`). Resolves when its replacement answers. */
  kill(): Promise<void>;
  /** Stops it and deletes its data folder. */
  stop(): Promise<void>;
}

/**
 * Starts a real host for a test. It also ends when this process does, even if it is killed.
 *
 * ```ts
 * await using host = await startHost({ scripts: { greeter: [{ text: "Hello!" }] } });
 * const alice = await host.agent("alice", { model: "scripted:greeter" });
 * const turn = await alice.send("Hi");
 * expect((await turn.outcome()).content).toBe("Hello!");
 * ```
 */
export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  const program = options.program ?? findProgram();
  const scripts = Object.fromEntries(
    Object.entries(options.scripts ?? {}).map(([name, source]) => [name, checkScript(name, source)]),
  );
  const folder = await createTempFolder();
  try {
    const home = join(folder.path, "home");
    await writeHome(home, options.config, scripts);
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: dirname(home),
      THINKERY_HOME: home,
      NO_COLOR: "1",
      ...options.env,
    };
    const worker = options.worker === undefined ? [] : [`--worker=${toFilePath(options.worker)}`];
    const start = (port: number) =>
      startDaemon({ program, folder: folder.path, env, args: [`--port=${port}`, ...worker] });

    let daemon = await start(0);
    const { port } = JSON.parse(await readFile(join(home, "daemon.json"), "utf8")) as { port: number };
    const token = (await readFile(join(home, "token"), "utf8")).trim();
    const url = `http://127.0.0.1:${port}`;
    const client = createClient({ url, token });

    let stopping: Promise<void> | undefined;
    const stop = () => (stopping ??= stopDaemon(daemon).then(folder.remove));
    return {
      url,
      token,
      client,
      home,
      agent: (name, options = {}) => client.agents().create({ ...options, name }),
      log: () => readFile(join(home, "logs", "thinkery.log"), "utf8"),
      async restart() {
        await stopDaemon(daemon);
        daemon = await start(port);
      },
      kill: () => killMain(home, token, url),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

// Files are validated by the host when the model is used.
function checkScript(name: string, source: ScriptSource): unknown {
  if (source instanceof URL) return source;
  const { exchanges, ...options } = isList(source) ? { exchanges: source } : source;
  try {
    return script(exchanges, options);
  } catch (error) {
    (error as Error).message = (error as Error).message.replace("Invalid script", `Invalid script “${name}”`);
    throw error;
  }
}

function isList(source: readonly ExchangeInput[] | ScriptInput): source is readonly ExchangeInput[] {
  return Array.isArray(source);
}

function toFilePath(worker: string | URL): string {
  return typeof worker === "string" && !worker.startsWith("file:") ? resolve(worker) : fileURLToPath(worker);
}
