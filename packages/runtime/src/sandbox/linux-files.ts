import {
  type CommandResult,
  type FileSyncResult,
  fail,
  type FileContent,
  type FileEdit,
  isThinkeryError,
  type CommitResponse,
  type Linux,
  type Overlap,
  ToolError,
  type Version,
} from "@thinkery/sdk";
import { collectedEntrySchema, encodeFileTransfer } from "@thinkery/sdk/internal";
import type { AgentLinux, LinuxWorkingCopy } from "./linux.ts";

/** What the Linux sandbox needs of the workspace. Commits have the tool call as their origin. */
export interface LinuxFiles {
  /** Returns the latest version. */
  getVersion(): number | Promise<number>;
  /** Returns all files of that version. */
  listFiles(): { path: string; hash: string }[] | Promise<{ path: string; hash: string }[]>;
  readContent(path: string): Promise<Uint8Array | undefined>;
  maxFileBytes: number;
  /** Converts content to the form in which the workspace stores it. */
  store(content: Uint8Array, path: string): FileContent | Promise<FileContent>;
  /** Commits edits that were made on the files of the version `base`. */
  rebaseEdits(edits: readonly FileEdit[], base: number): CommitResponse | Promise<CommitResponse>;
}

/** Size of one request to the daemon, unless a single file is larger. */
const maxRequestBytes = 4 * 1024 * 1024;
const maxNotes = 20;
/** Tells the daemon that nothing was collected. */
const noCollection = "none";

/** Syncs the agent's workspace with its Linux sandbox before and after each command. */
export function attachFiles(linux: AgentLinux, files: LinuxFiles): Linux {
  const exchange = ({ isLast = false } = {}) =>
    linux.workingCopy.runExclusive(async () => {
      const synced = await exchangeFiles(linux.workingCopy, files, isLast);
      return combineResults({ notes: linux.workingCopy.pendingNotes.splice(0) }, synced);
    });

  /** Syncs after an operation. A failed sync becomes a note, so that the operation's result is not lost. */
  async function syncAfter<T extends object>(result: T, before: FileSyncResult = {}): Promise<T & FileSyncResult> {
    const synced = await exchange().catch((error: unknown): FileSyncResult => ({
      notes: [`Files changed in the sandbox are not in the workspace yet: ${toErrorText(error)}`],
    }));
    return { ...result, ...combineResults(before, synced) };
  }

  return {
    async run(command, options) {
      const before = await exchange();
      try {
        return await syncAfter(await linux.run(command, options), before);
      } catch (error) {
        // The command was canceled or lost. What it changed until then is still collected; the agent may be about to be
        // deleted.
        await exchange({ isLast: true }).catch(() => {});
        throw error;
      }
    },
    async start(command) {
      const before = await exchange();
      return { ...(await linux.start(command)), ...before };
    },
    async list() {
      const { notes = [] } = await syncAfter({});
      // A list cannot carry notes, so they go with the next result.
      linux.workingCopy.pendingNotes.push(...notes);
      return linux.list();
    },
    read: async (id) => syncAfter(await linux.read(id)),
    stop: async (id) => syncAfter(await linux.stop(id)),
  };
}

/** The files that a single command runs on. */
export interface LinuxCopyFiles extends Pick<LinuxFiles, "readContent"> {
  version: number;
  files: readonly { path: string; hash: string }[];
}

/**
 * Runs a command on a new copy of these files, which is deleted afterwards with everything that the command did. Nobody
 * else may use this sandbox meanwhile.
 */
export async function runOnNewCopy(
  linux: AgentLinux,
  { version, files, readContent }: LinuxCopyFiles,
  command: string,
  options: Parameters<Linux["run"]>[1],
): Promise<CommandResult> {
  // A crash may have left one.
  await linux.forget();
  try {
    const list = files.map(({ path, hash }): [string, string] => [path, hash]);
    const needed = await linux.workingCopy.plan({ version, committed: noCollection, files: list });
    const notes = await sendFiles(linux.workingCopy, { readContent }, needed);
    const result = await linux.run(command, options);
    return { ...result, ...limitNotes({ notes }) };
  } finally {
    await linux.forget().catch((error: unknown) => console.error("a sandbox was not removed", error));
  }
}

/** Commits the working copy's changes to the workspace, then updates the copy to the workspace's latest version. */
async function exchangeFiles(copy: LinuxWorkingCopy, files: LinuxFiles, isLast: boolean): Promise<FileSyncResult> {
  const { collection, version, isBehind, isStuck, edits, except, notes } = await collectChanges(copy, files);
  if (isStuck) return limitNotes({ notes });
  let committed: Version | undefined;
  /** Whether the workspace now equals the working copy, so that no list of files has to be sent. */
  let isSame = !isBehind && edits.size === 1 && edits.has(version);
  for (const [base, group] of edits) {
    try {
      // A base newer than the workspace's version stems from before the workspace was restored.
      const result = await files.rebaseEdits(group, base <= (await files.getVersion()) ? base : 0);
      committed = result.version ?? committed;
      isSame &&= result.overlaps.length === 0 && (result.version?.id ?? version + 1) === version + 1;
      notes.push(...result.overlaps.map(formatOverlap));
    } catch (error) {
      isSame = false;
      except.push(...group.map(getEditPath));
      notes.push(
        `Changes in the sandbox could not be committed to the workspace and remain in the sandbox: ${toErrorText(error)}`,
      );
    }
  }
  const latest = await files.getVersion();
  isSame &&= latest === (committed?.id ?? version);
  if (!isLast && (edits.size > 0 || latest !== version || isBehind)) {
    const all = isSame
      ? {}
      : { files: (await files.listFiles()).map(({ path, hash }): [string, string] => [path, hash]) };
    const needed = await copy.plan({ version: latest, committed: collection, except, ...all });
    notes.push(...(await sendFiles(copy, files, needed)));
  }
  return limitNotes({ notes, ...(committed ? { version: committed } : {}) });
}

function getEditPath(edit: FileEdit): string {
  if ("write" in edit) return edit.write;
  return "delete" in edit ? edit.delete : edit.to;
}

async function collectChanges(copy: LinuxWorkingCopy, files: LinuxFiles) {
  let head = { collection: "", version: 0, isBehind: false, isStuck: true };
  let isComplete = false;
  const notes: string[] = [];
  const except: string[] = [];
  const edits = new Map<number, FileEdit[]>();
  const add = (base: number, edit: FileEdit) => {
    const group = edits.get(base);
    if (group) group.push(edit);
    else edits.set(base, [edit]);
  };
  for await (const { header, bytes } of copy.collect(files.maxFileBytes)) {
    const entry = collectedEntrySchema.parse(header);
    if ("collection" in entry) {
      head = entry;
      notes.push(...entry.notes);
    } else if ("delete" in entry) add(entry.base, { delete: entry.delete });
    else if ("write" in entry) {
      try {
        add(entry.base, { write: entry.write, content: await files.store(bytes, entry.write) });
      } catch (error) {
        except.push(entry.write);
        notes.push(`“${entry.write}” stays in the sandbox and is not copied to the workspace: ${toErrorText(error)}`);
      }
    } else isComplete = true;
  }
  if (!isComplete)
    throw fail(
      "unavailable",
      "The connection to the host was lost while files were collected from the sandbox. They follow with the next command.",
    );
  return { ...head, edits, except, notes };
}

/** Sends files to the daemon, many small ones per request. Returns notes. */
async function sendFiles(
  copy: LinuxWorkingCopy,
  files: Pick<LinuxFiles, "readContent">,
  needed: readonly string[],
): Promise<string[]> {
  const notes: string[] = [];
  let pieces: Uint8Array[] = [];
  let size = 0;
  const send = async () => {
    if (pieces.length > 0) notes.push(...(await copy.put(concatPieces(pieces, size))));
    pieces = [];
    size = 0;
  };
  try {
    for (const path of needed) {
      const content = await files.readContent(path);
      // Deleted meanwhile; the next sync removes it.
      if (!content) continue;
      if (size + content.length > maxRequestBytes) await send();
      for (const piece of encodeFileTransfer({ path }, content)) {
        pieces.push(piece);
        size += piece.length;
      }
    }
    await send();
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "limit") throw error;
    notes.push(error.message);
  }
  return notes;
}

function concatPieces(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function formatOverlap({ path, line, conflictCopy, reason }: Overlap): string {
  const location =
    conflictCopy !== undefined
      ? ` The other version is in “${conflictCopy}”.`
      : line !== undefined
        ? ` The conflict starts at line ${line}.`
        : "";
  return `“${path}” was changed in the workspace and in the sandbox. ${reason}${location}`;
}

function combineResults(one: FileSyncResult, other: FileSyncResult): FileSyncResult {
  const version = other.version ?? one.version;
  return limitNotes({ notes: [...(one.notes ?? []), ...(other.notes ?? [])], ...(version ? { version } : {}) });
}

function limitNotes({ notes = [], version }: FileSyncResult): FileSyncResult {
  const shown =
    notes.length > maxNotes ? [...notes.slice(0, maxNotes), `${notes.length - maxNotes} more notes omitted.`] : notes;
  return { ...(shown.length > 0 ? { notes: shown } : {}), ...(version ? { version } : {}) };
}

function toErrorText(error: unknown): string {
  return isThinkeryError(error) || error instanceof ToolError ? error.message : "internal error, see the host's log.";
}
