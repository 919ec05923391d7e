import { realpathSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { homedir, release } from "node:os";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Home } from "../../home/home.ts";
import { getBubblewrap } from "../bubblewrap.ts";
import { isRoot as isRootUser, nobody } from "../isolation.ts";
import { startChild, startCommand } from "../process.ts";
import { findProgram } from "../program.ts";
import { AgentFolders } from "./agent-folders.ts";
import { etcFiles, programPath, type Programs, isolateCommand, type CommandIsolation } from "./isolation.ts";
import type { Exit, LinuxProvider, CommandSpec, StartedCommand } from "./provider.ts";
import { measureUsage } from "./usage.ts";

type FoundBubblewrap = { path: string } | { missing: string };

interface BubblewrapOptions {
  home: Pick<Home, "path" | "run">;
  /** Overrides the detection of bubblewrap. */
  find?: () => Promise<FoundBubblewrap>;
  /** Called with errors for the host's log. */
  onError(text: string): void;
}

/** The kernel's own limit of processes is higher than ours, so that we notice when a command exceeds ours. */
const spareProcesses = 16;

/** Runs this machine's programs inside bubblewrap. Needs no setup and no background process. */
export function createBubblewrapProvider({ home, find = getBubblewrap, onError }: BubblewrapOptions): LinuxProvider {
  const isRoot = isRootUser();
  const etc = join(home.run, "linux-etc");
  // What administrators configure by hand may contain credentials, such as those of a package registry.
  const hidden = resolveFolders(
    () => home.path,
    homedir,
    process.cwd,
    () => "/usr/local/etc",
  );
  const folders = new AgentFolders({
    root: join(home.path, "linux"),
    owner: isRoot ? nobody : undefined,
    empty: (folder) => runCommand(folder, "chmod -R u+rwx .; find . -mindepth 1 -delete"),
    onError,
  });
  let cachedPrograms: Promise<Programs | string> | undefined;

  /**
   * Returns the programs, or why they are not available. Retried until found, because they may be installed meanwhile.
   */
  async function getPrograms(): Promise<Programs | string> {
    cachedPrograms ??= prepare();
    const found = await cachedPrograms;
    if (typeof found === "string") cachedPrograms = undefined;
    return found;
  }

  async function prepare(): Promise<Programs | string> {
    const found = await findPrograms(await find(), isRoot);
    if (typeof found === "string") return found;
    await writeEtcFiles(etc);
    let output = "";
    const isolation: CommandIsolation = { ...createIsolation(found, etc), network: false, limits: probeLimits };
    const exit = await startCommand({ ...isolateCommand(isolation, ":"), onOutput: (chunk) => (output += chunk) })
      .exited;
    if (exit.code !== 0) return describeFailure(exit.error?.message ?? output);
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

    async findIssue() {
      const found = await getPrograms();
      return typeof found === "string" ? found : undefined;
    },

    async start({ agent, command, limits, cpuSeconds, fileBytes, onOutput }: CommandSpec): Promise<StartedCommand> {
      const found = await getPrograms();
      if (typeof found === "string") throw fail("unavailable", found);
      const memoryBytes = limits.memoryMb * 1024 * 1024;
      const isolation: CommandIsolation = {
        ...createIsolation(found, await folders.open(agent)),
        network: limits.network,
        limits: { memoryBytes, cpuSeconds, fileBytes, processes: toKernelLimit(limits.maxProcessesPerCommand) },
      };
      const outputFilter = createOutputFilter(onOutput);
      const child = startCommand({ ...isolateCommand(isolation, command), onOutput: outputFilter.write });
      const exited = child.exited.then(({ code, error }): Exit => {
        const failure = error?.message ?? outputFilter.end(code);
        if (failure === undefined) return { code };
        onError(`failed to isolate a command of ${agent}: ${failure}`);
        throw fail("unavailable", "The Linux sandbox could not be started. See the host's log.");
      });
      return {
        exited,
        kill: () => child.kill("SIGKILL"),
        measureUsage: () => (child.pid === undefined ? undefined : measureUsage(child.pid, memoryBytes)),
      };
    },

    async hasStorage(agent) {
      const found = await getPrograms();
      if (typeof found === "string") throw fail("unavailable", found);
      return folders.has(agent);
    },

    async openStorage(agent) {
      const found = await getPrograms();
      if (typeof found === "string") throw fail("unavailable", found);
      const folder = await folders.open(agent);
      return { folder, metadata: await folders.openMetadata(agent), owner: isRoot ? nobody : undefined };
    },

    forget: (agent) => folders.delete(agent),
  };
}

/** Returns the real paths of those that exist; the working directory, for one, may have been removed. */
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
    return "The Linux sandbox needs prlimit, setsid and setpriv. Install util-linux; on Debian and Ubuntu: `sudo apt-get install util-linux`.";
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

/** Reads the supported options from bubblewrap's help. */
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
  // Commands of another user must be able to read it; its parent folder is closed to everybody else.
  await chmod(folder, 0o755);
}

function describeFailure(output: string): string {
  const reason = output.trim().split("\n")[0]?.slice(0, 200) || "no reason given";
  return `The Linux sandbox does not work on this machine (${reason}). Allow unprivileged user namespaces; for a container, allow them when it is started.`;
}

// Before 5.14, Linux counted all processes of the user against the limit, not only those in the sandbox.
function toKernelLimit(processes: number): number | undefined {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14) ? processes + spareProcesses : undefined;
}

const bubblewrapPrefix = "bwrap: ";

/**
 * Passes on the command's output, but withholds bubblewrap's own error messages, because they contain paths of this
 * machine.
 */
function createOutputFilter(onOutput: (chunk: Buffer) => void) {
  let withheld: Buffer | undefined = Buffer.alloc(0);
  const flush = () => {
    if (withheld && withheld.length > 0) onOutput(withheld);
    withheld = undefined;
  };
  return {
    write(chunk: Buffer): void {
      if (!withheld) return onOutput(chunk);
      withheld = Buffer.concat([withheld, chunk]);
      const prefix = withheld.toString("latin1", 0, bubblewrapPrefix.length);
      if (!bubblewrapPrefix.startsWith(prefix) || withheld.length > 2000) flush();
    },
    /** Returns bubblewrap's error message if that is the whole output. */
    end(code: number | null): string | undefined {
      const text = withheld?.toString() ?? "";
      if (code === 1 && new RegExp(`^${bubblewrapPrefix}[^\\n]*\\n$`).test(text)) return text.trim();
      flush();
      return undefined;
    },
  };
}
