import { Bash, type BashExecResult, type CommandName, type ExecResult } from "just-bash/browser";
import { createCommandCheck } from "../../../policy/match-command.ts";
import {
  maxConsoleChars,
  maxPathChars,
  maxChangedBytes,
  maxChanges,
  maxEnvironmentBytes,
  maxScratchBytes,
} from "../../bounds.ts";
import type { ShellHost, ShellJob, ShellOutcome, ShellState } from "../../shell.ts";
import { BoundedText } from "../harness/bounded-text.ts";
import { listChanges, diffTrees, TooManyChangesError, type TreeDiff } from "./changes.ts";
import { withCommandHook } from "./command-hook.ts";
import { FileBody, type ContentSource } from "./file-body.ts";
import { TreeFileSystem } from "./file-system.ts";
import { createFetch } from "./network.ts";
import { normalizedPrograms } from "./normalize-args.ts";
import { programs } from "./programs.ts";
import { commandNames, scratchFolder, systems, workFolder } from "./system.ts";
import { iterateFiles, type Folder, splitPath, createFolder, Tree } from "./tree.ts";

/** What all that is written while a command runs may have, in bytes. */
const room = 48 * 1024 * 1024;
/** Longer texts than this no program may handle; what is shown at the end is cut elsewhere. */
const maxTextChars = 16 * 1024 * 1024;
const maxNamedPaths = 5;
const maxFolders = 1000;

export interface CommandOptions {
  job: Omit<ShellJob, "view" | "agent">;
  /** The workspace as it is before. */
  work: Folder;
  host: ShellHost;
  onFetched?(body: FileBody): void;
}

/** Runs one command on a workspace that nobody else sees, and tells what it would change. */
export async function runCommand({ job, work, host, onFetched }: CommandOptions): Promise<ShellOutcome> {
  const { limits } = job;
  const source = createSource(host);
  const system = job.network ? systems.connected : systems.alone;
  const tree = createTree(system, work, job.state);
  const state = { ...job.state, cwd: resolveFolder(tree, job.state.cwd) };
  const files = new TreeFileSystem(tree, { source, room, ...(onFetched ? { onFetched } : {}) });
  const shell = openShell({ ...job, state }, files, host);
  const result = await shell.run(job.command);
  const stdout = truncateOutput(result.stdout, limits.outputBytes);
  const stderr = truncateOutput(cleanErrors(result.stderr), limits.outputBytes);
  const after = tree.find([workFolder]);
  const diff = diffTrees(work, after?.kind === "folder" ? after : undefined);
  const notes: string[] = [];
  if (result.exitCode === 124 && /execution (?:deadline|time)|aborted/.test(result.stderr))
    notes.push(`The command was ended after ${limits.timeoutMs / 1000} s.`);
  try {
    const changes = await listChanges(diff, source, { changes: maxChanges, bytes: maxChangedBytes });
    const scratch = collectScratch(tree, notes);
    notes.push(...describeLosses(diff, state, { system, tree, modes: files.modes }));
    const folders = diff.folders.filter((path) => path.length <= maxPathChars).slice(0, maxFolders);
    const { cwd, env } = shell.state(result, state, notes);
    return {
      ok: true,
      exitCode: result.exitCode & 255,
      stdout,
      stderr,
      changes,
      notes,
      state: { cwd: resolveFolder(tree, cwd), env, folders, scratch },
    };
  } catch (error) {
    if (!(error instanceof TooManyChangesError)) throw error;
    return {
      ok: false,
      kind: "limit",
      message: `Nothing of what the command did was kept. ${error.message}`,
      console: truncateOutput(stdout + stderr, maxConsoleChars),
    };
  }
}

function createTree(system: Folder, work: Folder, { folders, scratch }: ShellState): Tree {
  const tree = new Tree(system);
  const now = Date.now();
  tree.put([workFolder], work);
  for (const folder of folders) tree.ensureFolder([workFolder, ...splitPath(folder)], now);
  for (const [path, content] of scratch)
    tree.put([scratchFolder, ...splitPath(path)], { kind: "file", body: FileBody.of(content), mtime: now });
  return tree;
}

/** A folder that somebody has removed is left for the workspace. */
function resolveFolder(tree: Tree, path: string): string {
  return path.length <= maxPathChars && tree.find(splitPath(path))?.kind === "folder" ? path : `/${workFolder}`;
}

/** What the interpreter keeps to itself and no option tells: which variables are exported. */
interface InterpreterInternals {
  state: { exportedVars: Set<string> };
}

function openShell({ state, limits, rules, network }: CommandOptions["job"], files: TreeFileSystem, host: ShellHost) {
  const isAllowed = createCommandCheck(rules);
  let left: Record<string, string> | undefined;
  const bash = new Bash({
    fs: files,
    cwd: state.cwd,
    env: { ...defaultEnv, ...state.env },
    commands: commandNames as CommandName[],
    customCommands: [...normalizedPrograms, ...programs],
    executionLimits: {
      maxExecutionTimeMs: limits.timeoutMs,
      maxLoopIterations: limits.loops,
      maxAwkIterations: limits.loops,
      maxSedIterations: limits.loops,
      maxJqIterations: limits.loops,
      maxCommandCount: limits.commands,
      maxCallDepth: limits.depth,
      maxOutputSize: room,
      maxStringLength: maxTextChars,
      maxHeredocSize: maxTextChars,
      maxArchiveBytes: room,
      maxSourceBytes: 1024 * 1024,
      maxLiveBytes: 2 * room,
      maxInputBytes: 8 * room,
    },
    // The isolate has nothing in it that the interpreter would have to be kept from.
    defenseInDepth: false,
    coverage: withCommandHook((name, args, { env, cwd }) => {
      if (isAllowed && !isAllowed(name, args)) return createDeniedResult(name);
      // An exit ends the interpreter before it reports its variables.
      if (name === "exit") left = { ...Object.fromEntries(env), PWD: cwd };
      return undefined;
    }),
    processInfo: { pid: 2, ppid: 1, uid: 1000, gid: 1000 },
    ...(network ? { fetch: createFetch(host) } : {}),
  });
  const inside = bash as unknown as InterpreterInternals;
  return {
    run: (command: string): Promise<BashExecResult> =>
      bash
        .exec(command, { rawScript: true })
        .catch((error: Error) => ({ stdout: "", stderr: `bash: ${error.message}\n`, exitCode: 1, env: {} })),
    state({ env }: BashExecResult, before: ShellState, notes: string[]): Pick<ShellState, "cwd" | "env"> {
      const end = "?" in env ? env : (left ?? { ...env, PWD: before.cwd });
      const kept = [...inside.state.exportedVars].filter(
        (name) => !shellVariables.has(name) && end[name] !== undefined && end[name] !== defaultEnv[name],
      );
      return {
        cwd: end.PWD ?? before.cwd,
        env: selectLastingVariables(
          kept.map((name) => [name, end[name] as string]),
          notes,
        ),
      };
    },
  };
}

/** What is set in every shell. */
const defaultEnv: Record<string, string> = {
  HOME: `/${workFolder}`,
  USER: "agent",
  PATH: "/usr/bin:/bin",
  SHELL: "/bin/bash",
  TERM: "dumb",
  LANG: "C.UTF-8",
  TMPDIR: `/${scratchFolder}`,
};

/** Variables that every shell sets for itself. */
const shellVariables = new Set(["PWD", "OLDPWD", "_", "SHLVL"]);

/** As many variables as may last, and what is said of the others. */
function selectLastingVariables(variables: [name: string, value: string][], notes: string[]): Record<string, string> {
  let room = maxEnvironmentBytes;
  const dropped: string[] = [];
  const kept = variables.filter(([name, value]) => {
    const size = name.length + value.length;
    if (size > room || name.length > 1000) return void dropped.push(name);
    room -= size;
    return true;
  });
  if (dropped.length > 0)
    notes.push(
      `Exported variables may have ${maxEnvironmentBytes / 1024} KB in all to last; forgotten: ${formatPaths(dropped)}.`,
    );
  return Object.fromEntries(kept);
}

function createDeniedResult(name: string): ExecResult {
  return { stdout: "", stderr: `${name}: denied by this agent's policy\n`, exitCode: 126 };
}

function createSource(host: ShellHost): ContentSource {
  return async (path) => {
    const content = await host.read(path);
    if (content === undefined) throw new Error(`EIO: i/o error, read '/${workFolder}/${path}'`);
    return content;
  };
}

function collectScratch(tree: Tree, notes: string[]): ShellState["scratch"] {
  const folder = tree.find([scratchFolder]);
  const scratch: ShellState["scratch"] = [];
  const dropped: string[] = [];
  let bytes = 0;
  for (const [path, { body }] of folder?.kind === "folder" ? iterateFiles(folder) : []) {
    if (bytes + body.size > maxScratchBytes || scratch.length >= maxFolders || path.length > maxPathChars) {
      dropped.push(`/${scratchFolder}/${path}`);
      continue;
    }
    bytes += body.size;
    scratch.push([path, body.content()]);
  }
  if (dropped.length > 0)
    notes.push(
      `/${scratchFolder} keeps ${maxScratchBytes / 1024 / 1024} MB from one command to the next; not kept: ${formatPaths(dropped)}.`,
    );
  return scratch;
}

/** What a workspace cannot hold, said once. */
function describeLosses(
  { folders, links }: TreeDiff,
  before: ShellState,
  { system, tree, modes }: { system: Folder; tree: Tree; modes: ReadonlySet<string> },
): string[] {
  const notes: string[] = [];
  const empty = folders.filter((folder) => !before.folders.includes(folder));
  if (links.length > 0) notes.push(`A workspace has no symbolic links; not kept: ${formatPaths(links)}.`);
  if (empty.length > 0)
    notes.push(
      `A workspace has no empty folders; until something is in it, this is there for the rest of the turn only: ${formatPaths(empty)}.`,
    );
  const changed = [...modes]
    .filter((path) => path.startsWith(`${workFolder}/`) && tree.find(path.split("/"))?.kind === "file")
    .map((path) => path.slice(workFolder.length + 1));
  if (changed.length > 0)
    notes.push(
      `A workspace keeps no modes of files; forgotten: ${formatPaths(changed)}. A file that begins with #! can always be run.`,
    );
  const elsewhere = [...listOutside(system, tree)];
  if (elsewhere.length > 0)
    notes.push(
      `Only what is in /${workFolder} is kept, and /${scratchFolder} for the rest of the turn; lost: ${formatPaths(elsewhere)}.`,
    );
  return notes;
}

function* listOutside(system: Folder, tree: Tree): Generator<string> {
  const without = (folder: Folder): Folder => {
    const rest = createFolder(tree);
    for (const [name, entry] of folder.entries)
      if (![workFolder, scratchFolder, "dev", "proc"].includes(name)) rest.entries.set(name, entry);
    return rest;
  };
  for (const path of diffTrees(without(system), without(tree.root)).written.keys()) yield `/${path}`;
}

function formatPaths(paths: readonly string[]): string {
  const shown = paths
    .slice(0, maxNamedPaths)
    .map((path) => (path.length > 200 ? `${path.slice(0, 200)}…` : path))
    .join(", ");
  return paths.length > maxNamedPaths ? `${shown} and ${paths.length - maxNamedPaths} more` : shown;
}

/** Advice for whoever builds the interpreter in is of no use to whoever runs a command. */
function cleanErrors(complaints: string): string {
  return complaints
    .replace(/, increase executionLimits\.\w+/g, "")
    .replace(/command not available in browser environments\.[^\n]*/g, "command not found");
}

function truncateOutput(text: string, most: number): string {
  const written = new BoundedText(most);
  written.add(text);
  return written.text;
}
