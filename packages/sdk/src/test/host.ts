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
  /** The file of your own Worker: a path, or `new URL("../src/worker.ts", import.meta.url)`. Without it, the stock one. */
  worker?: string | URL;
  /** Scripted models by name: what is under `greeter` is the model `scripted:greeter`. A URL is that of a YAML file. */
  scripts?: Readonly<Record<string, ScriptSource>>;
  /** What could stand in `config.jsonc`. */
  config?: object;
  /** Environment variables of the host. It gets nothing else of yours: no key, no home, no proxy. */
  env?: Readonly<Record<string, string>>;
  /** Another program than that of the package `thinkery`. */
  program?: string;
}

type ScriptSource = readonly ExchangeInput[] | ScriptInput | URL;

type NewAgent = Omit<NonNullable<Parameters<Agents["create"]>[0]>, "name">;

/** A host that nobody else knows of, in a folder of its own on a port of its own. Stopped, nothing is left of it. */
export interface TestHost extends AsyncDisposable {
  url: string;
  token: string;
  client: Client;
  /** Its data folder. */
  home: string;
  /** Makes an agent of the agency `global`. */
  agent(name: string, more?: NewAgent): Promise<AgentHandle>;
  /** What its processes have said so far. */
  log(): Promise<string>;
  /** Stops it cleanly and starts it again, at the same address. */
  restart(): Promise<void>;
  /** `kill -9` of the process that holds the agents; back when it answers again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a real host for a test, to be stopped with `stop()` or by `await using host = await startHost()`. It also
 * ends when this process does, however that comes.
 */
export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  const program = options.program ?? findProgram();
  const scripts = Object.fromEntries(
    Object.entries(options.scripts ?? {}).map(([name, lines]) => [name, validateScript(name, lines)]),
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
    const start = (at: number) => startDaemon({ program, folder: folder.path, env, args: [`--port=${at}`, ...worker] });

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
      agent: (name, more = {}) => client.agents().create({ ...more, name }),
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

// A file is read and checked by the host, which says what is wrong with it when it is played.
function validateScript(name: string, lines: ScriptSource): unknown {
  if (lines instanceof URL) return lines;
  const { exchanges, ...more } = isList(lines) ? { exchanges: lines } : lines;
  try {
    return script(exchanges, more);
  } catch (error) {
    (error as Error).message = (error as Error).message.replace("The script", `The script “${name}”`);
    throw error;
  }
}

function isList(lines: readonly ExchangeInput[] | ScriptInput): lines is readonly ExchangeInput[] {
  return Array.isArray(lines);
}

function toFilePath(worker: string | URL): string {
  return typeof worker === "string" && !worker.startsWith("file:") ? resolve(worker) : fileURLToPath(worker);
}
