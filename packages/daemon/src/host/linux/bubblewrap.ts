import { realpathSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { homedir, release } from "node:os";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Home } from "../../home/home.ts";
import { getBubblewrap } from "../bubblewrap.ts";
import { startChild, startCommand } from "../process.ts";
import { findProgram } from "../program.ts";
import { AgentFolders } from "./agent-folders.ts";
import { nobody, etcFiles, programPath, type Programs, isolateCommand, type CommandIsolation } from "./isolation.ts";
import type { Exit, LinuxProvider, CommandOrder, StartedCommand } from "./provider.ts";

type FoundBubblewrap = { path: string } | { missing: string };

interface BubblewrapOptions {
  home: Pick<Home, "path" | "run">;
  /** Finds bubblewrap. */
  find?: () => Promise<FoundBubblewrap>;
  /** What happens that its owner should know of. */
  onError(text: string): void;
}

/** A command may have so many processes and threads. */
const maxProcesses = 512;

/** Programs of this machine behind the walls of bubblewrap. Nothing to set up and nothing that runs meanwhile. */
export function createBubblewrapProvider({ home, find = getBubblewrap, onError }: BubblewrapOptions): LinuxProvider {
  const isRoot = process.getuid?.() === 0;
  const etc = join(home.run, "linux-etc");
  const hidden = resolveFolders(() => home.path, homedir, process.cwd);
  const folders = new AgentFolders({
    root: join(home.path, "linux"),
    owner: isRoot ? nobody : undefined,
    empty: (folder) => runCommand(folder, "chmod -R u+rwx .; find . -mindepth 1 -delete"),
    onError,
  });
  let ready: Promise<Programs | string> | undefined;

  /** The programs, or why it cannot be. Looked for until they are found: somebody may install them. */
  async function getPrograms(): Promise<Programs | string> {
    ready ??= prepare();
    const found = await ready;
    if (typeof found === "string") ready = undefined;
    return found;
  }

  async function prepare(): Promise<Programs | string> {
    const found = await findPrograms(await find(), isRoot);
    if (typeof found === "string") return found;
    await writeEtcFiles(etc);
    let words = "";
    const isolation: CommandIsolation = { ...createIsolation(found, etc), network: false, limits: probeLimits };
    const exit = await startCommand({ ...isolateCommand(isolation, ":"), onOutput: (chunk) => (words += chunk) })
      .exited;
    if (exit.code !== 0) return describeRefusal(exit.error?.message ?? words);
    void folders.sweep();
    return found;
  }

  function createIsolation(programs: Programs, folder: string) {
    return { programs, folder, etc, hidden };
  }

  async function runCommand(folder: string, command: string): Promise<void> {
    const found = await getPrograms();
    if (typeof found === "string") throw new Error(found);
    const isolation: CommandIsolation = { ...createIsolation(found, folder), network: false, limits: probeLimits };
    await startCommand({ ...isolateCommand(isolation, command), onOutput: () => {} }).exited;
  }

  return {
    name: "bubblewrap",

    async findProblem() {
      const found = await getPrograms();
      return typeof found === "string" ? found : undefined;
    },

    async start({ agent, command, limits, cpuSeconds, fileBytes, onOutput }: CommandOrder): Promise<StartedCommand> {
      const found = await getPrograms();
      if (typeof found === "string") throw fail("unavailable", found);
      const isolation: CommandIsolation = {
        ...createIsolation(found, await folders.open(agent)),
        network: limits.network,
        limits: { memoryBytes: limits.memoryMb * 1024 * 1024, cpuSeconds, fileBytes, processes: getProcessLimit() },
      };
      const outputFilter = createOutputFilter(onOutput);
      const child = startCommand({ ...isolateCommand(isolation, command), onOutput: outputFilter.write });
      const exited = child.exited.then(({ code, error }): Exit => {
        const failed = error?.message ?? outputFilter.end(code);
        if (failed === undefined) return { code };
        onError(`a command of ${agent} could not be walled in: ${failed}`);
        throw fail("unavailable", "The Linux sandbox could not be put up; the host's log says why.");
      });
      return { exited, kill: () => child.kill("SIGKILL") };
    },

    async hasPlace(agent) {
      const found = await getPrograms();
      if (typeof found === "string") throw fail("unavailable", found);
      return folders.has(agent);
    },

    async openPlace(agent) {
      const found = await getPrograms();
      if (typeof found === "string") throw fail("unavailable", found);
      const folder = await folders.open(agent);
      return { folder, metadata: await folders.openMetadata(agent), owner: isRoot ? nobody : undefined };
    },

    forget: (agent) => folders.delete(agent),
  };
}

/** Where these lead, as far as they are there: a working folder may have been removed under us. */
function resolveFolders(...paths: (() => string)[]): string[] {
  return paths.flatMap((path) => {
    try {
      return [realpathSync(path())];
    } catch {
      return [];
    }
  });
}

const probeLimits = { memoryBytes: 256 * 1024 * 1024, fileBytes: 0, cpuSeconds: 600, processes: undefined };

async function findPrograms(found: FoundBubblewrap, isRoot: boolean): Promise<Programs | string> {
  if ("missing" in found) return `The Linux sandbox needs bubblewrap. ${found.missing}`;
  const findInPath = (...names: string[]) => findProgram({ PATH: programPath }, ...names);
  const prlimit = findInPath("prlimit");
  const setpriv = findInPath("setpriv");
  const setsid = findInPath("setsid");
  const shell = findInPath("bash", "sh");
  if (!prlimit || !setsid || !shell || (isRoot && !setpriv)) {
    return "The Linux sandbox needs prlimit, setsid and setpriv. Install util-linux, on Debian and Ubuntu with `sudo apt-get install util-linux`.";
  }
  const options = await readOptions(found.path);
  return {
    bwrap: found.path,
    options,
    prlimit,
    setsid,
    shell,
    nice: findInPath("nice"),
    setpriv: isRoot ? setpriv : undefined,
  };
}

/** The options that it knows, by its own help. */
async function readOptions(bwrap: string): Promise<Set<string>> {
  const options = new Set<string>();
  const onLine = (line: string) => void options.add(/^\s+(--[a-z-]+)/.exec(line)?.[1] ?? "");
  await startChild({ command: bwrap, args: ["--help"], env: {}, lockFd: undefined, onLine }).exited;
  return options;
}

async function writeEtcFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(etcFiles)) {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o644);
  }
  // What it lies in is closed to everybody else.
  await chmod(folder, 0o755);
}

function describeRefusal(words: string): string {
  const why = words.trim().split("\n")[0]?.slice(0, 200) || "it does not say why";
  return `The Linux sandbox cannot be put up on this machine (${why}). Allow user namespaces to everybody; in a container, the one who starts it has to.`;
}

// Before 5.14, Linux counted all of the user's processes against it, wherever they ran.
function getProcessLimit(): number | undefined {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14) ? maxProcesses : undefined;
}

const bubblewrapPrefix = "bwrap: ";

/** Passes on what the command writes, and keeps back what bubblewrap says in its place: that names places of this machine. */
function createOutputFilter(onOutput: (chunk: Buffer) => void) {
  let kept: Buffer | undefined = Buffer.alloc(0);
  const pass = () => {
    if (kept && kept.length > 0) onOutput(kept);
    kept = undefined;
  };
  return {
    write(chunk: Buffer): void {
      if (!kept) return onOutput(chunk);
      kept = Buffer.concat([kept, chunk]);
      const begins = kept.toString("latin1", 0, bubblewrapPrefix.length);
      if (!bubblewrapPrefix.startsWith(begins) || kept.length > 2000) pass();
    },
    /** What bubblewrap said, where that is all there is. */
    end(code: number | null): string | undefined {
      const words = kept?.toString() ?? "";
      if (code === 1 && new RegExp(`^${bubblewrapPrefix}[^\\n]*\\n$`).test(words)) return words.trim();
      pass();
      return undefined;
    },
  };
}
