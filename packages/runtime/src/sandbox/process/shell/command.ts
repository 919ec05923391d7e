import { Bash, type BashExecResult, type CommandName, type ExecResult } from "just-bash/browser";
import { createCommandCheck } from "../../../policy/command-check.ts";
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

/** Total size of everything a command writes. */
const maxWrittenBytes = 48 * 1024 * 1024;
/** Longest text that a program may handle. The output is truncated separately. */
const maxTextChars = 16 * 1024 * 1024;
const maxNamedPaths = 5;
const maxFolders = 1000;

export interface CommandOptions {
  job: Omit<ShellJob, "view" | "agent">;
  /** The workspace before the command. */
  work: Folder;
  host: ShellHost;
  onFetched?(body: FileBody): void;
}

/** Runs one command on a private view of the workspace and returns the changes it made there. */
export async function runCommand({ job, work, host, onFetched }: CommandOptions): Promise<ShellOutcome> {
  const { limits } = job;
  const source = createSource(host);
  const system = job.network ? systems.connected : systems.alone;
  const tree = createTree(system, work, job.state);
  const state = { ...job.state, cwd: resolveFolder(tree, job.state.cwd) };
  const files = new TreeFileSystem(tree, { source, maxBytes: maxWrittenBytes, ...(onFetched ? { onFetched } : {}) });
  const shell = openShell({ ...job, state }, files, host);
  const result = await shell.run(job.command);
  const stdout = truncateOutput(result.stdout, limits.outputBytes);
  const stderr = truncateOutput(cleanErrors(result.stderr), limits.outputBytes);
  const after = tree.find([workFolder]);
  const diff = diffTrees(work, after?.kind === "folder" ? after : undefined);
  const notes: string[] = [];
  if (result.exitCode === 124 && /execution (?:deadline|time)|aborted/.test(result.stderr))
    notes.push(`The command did not finish within ${limits.timeoutMs / 1000} s and was stopped.`);
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
      message: `The command's changes were discarded. ${error.message}`,
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

/** Falls back to the workspace's root if the folder does not exist. */
function resolveFolder(tree: Tree, path: string): string {
  return path.length <= maxPathChars && tree.find(splitPath(path))?.kind === "folder" ? path : `/${workFolder}`;
}

/** Private state of the interpreter: no option tells which variables are exported. */
interface InterpreterInternals {
  state: { exportedVars: Set<string> };
}

function openShell(
  { command, state, limits, rules, network }: CommandOptions["job"],
  files: TreeFileSystem,
  host: ShellHost,
) {
  const check = createCommandCheck(rules, command);
  let envAtExit: Record<string, string> | undefined;
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
      maxOutputSize: maxWrittenBytes,
      maxStringLength: maxTextChars,
      maxHeredocSize: maxTextChars,
      maxArchiveBytes: maxWrittenBytes,
      maxSourceBytes: 1024 * 1024,
      maxLiveBytes: 2 * maxWrittenBytes,
      maxInputBytes: 8 * maxWrittenBytes,
    },
    // The isolate contains nothing that the interpreter must not reach.
    defenseInDepth: false,
    coverage: withCommandHook((name, args, { env, cwd }) => {
      const action = check?.(name, args);
      if (action === "deny") return createRefusal(`${name}: denied by this agent's policy`);
      if (action === "ask") return createRefusal(`${name}: ${askedAdvice}`);
      // `exit` ends the interpreter before it reports its variables.
      if (name === "exit") envAtExit = { ...Object.fromEntries(env), PWD: cwd };
      return undefined;
    }),
    processInfo: { pid: 2, ppid: 1, uid: 1000, gid: 1000 },
    ...(network ? { fetch: createFetch(host) } : {}),
  });
  const internals = bash as unknown as InterpreterInternals;
  return {
    run: (command: string): Promise<BashExecResult> =>
      bash
        .exec(command, { rawScript: true })
        .catch((error: Error) => ({ stdout: "", stderr: `bash: ${error.message}\n`, exitCode: 1, env: {} })),
    state({ env }: BashExecResult, before: ShellState, notes: string[]): Pick<ShellState, "cwd" | "env"> {
      const finalEnv = "?" in env ? env : (envAtExit ?? { ...env, PWD: before.cwd });
      const exported = [...internals.state.exportedVars].filter(
        (name) => !shellVariables.has(name) && finalEnv[name] !== undefined && finalEnv[name] !== defaultEnv[name],
      );
      return {
        cwd: finalEnv.PWD ?? before.cwd,
        env: selectPersistentVariables(
          exported.map((name) => [name, finalEnv[name] as string]),
          notes,
        ),
      };
    },
  };
}

/** Variables that are set in every shell. */
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

/** Selects the variables that fit, and adds a note on the others. */
function selectPersistentVariables(
  variables: [name: string, value: string][],
  notes: string[],
): Record<string, string> {
  let bytesLeft = maxEnvironmentBytes;
  const dropped: string[] = [];
  const selected = variables.filter(([name, value]) => {
    const size = name.length + value.length;
    if (size > bytesLeft || name.length > 1000) return void dropped.push(name);
    bytesLeft -= size;
    return true;
  });
  if (dropped.length > 0)
    notes.push(
      `Exported variables persist up to ${maxEnvironmentBytes / 1024} KB in total; dropped: ${formatPaths(dropped)}.`,
    );
  return Object.fromEntries(selected);
}

/** Only a whole call can wait for a person, and its text did not tell that it would run this command. */
const askedAdvice =
  "needs a person's approval, which a command inside a script or a substitution cannot wait for yet; run it as a command of its own";

const createRefusal = (reason: string): ExecResult => ({ stdout: "", stderr: `${reason}\n`, exitCode: 126 });

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
      `/${scratchFolder} keeps at most ${maxScratchBytes / 1024 / 1024} MB between commands; dropped: ${formatPaths(dropped)}.`,
    );
  return scratch;
}

/** Returns notes on what a workspace cannot store; on each empty folder only once. */
function describeLosses(
  { folders, links }: TreeDiff,
  before: ShellState,
  { system, tree, modes }: { system: Folder; tree: Tree; modes: ReadonlySet<string> },
): string[] {
  const notes: string[] = [];
  const empty = folders.filter((folder) => !before.folders.includes(folder));
  if (links.length > 0) notes.push(`A workspace cannot store symbolic links; dropped: ${formatPaths(links)}.`);
  if (empty.length > 0)
    notes.push(`A workspace cannot store empty folders; kept for the rest of the turn only: ${formatPaths(empty)}.`);
  const changed = [...modes]
    .filter((path) => path.startsWith(`${workFolder}/`) && tree.find(path.split("/"))?.kind === "file")
    .map((path) => path.slice(workFolder.length + 1));
  if (changed.length > 0)
    notes.push(
      `A workspace cannot store file modes; dropped: ${formatPaths(changed)}. Files that start with #! are always executable.`,
    );
  const outside = [...listOutside(system, tree)];
  if (outside.length > 0)
    notes.push(
      `Only /${workFolder} is kept, and /${scratchFolder} for the rest of the turn; dropped: ${formatPaths(outside)}.`,
    );
  return notes;
}

function* listOutside(system: Folder, tree: Tree): Generator<string> {
  const selectOutside = (folder: Folder): Folder => {
    const rest = createFolder(tree);
    for (const [name, entry] of folder.entries)
      if (![workFolder, scratchFolder, "dev", "proc"].includes(name)) rest.entries.set(name, entry);
    return rest;
  };
  for (const path of diffTrees(selectOutside(system), selectOutside(tree.root)).written.keys()) yield `/${path}`;
}

function formatPaths(paths: readonly string[]): string {
  const shown = paths
    .slice(0, maxNamedPaths)
    .map((path) => (path.length > 200 ? `${path.slice(0, 200)}…` : path))
    .join(", ");
  return paths.length > maxNamedPaths ? `${shown} and ${paths.length - maxNamedPaths} more` : shown;
}

/** Removes advice that is meant for those who embed the interpreter. */
function cleanErrors(stderr: string): string {
  return stderr
    .replace(/, increase executionLimits\.\w+/g, "")
    .replace(/command not available in browser environments\.[^\n]*/g, "command not found");
}

function truncateOutput(text: string, maxChars: number): string {
  const output = new BoundedText(maxChars);
  output.add(text);
  return output.text;
}
