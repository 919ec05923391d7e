import {
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

/** The workspace as the Linux sandbox needs it; what lands has the call as its origin. */
export interface LinuxFiles {
  /** The latest version. */
  getVersion(): number | Promise<number>;
  /** All files of that version. */
  listFiles(): { path: string; hash: string }[] | Promise<{ path: string; hash: string }[]>;
  readContent(path: string): Promise<Uint8Array | undefined>;
  /** How large a file may be. */
  maxFileBytes: number;
  /** Content as it is kept. */
  store(content: Uint8Array, path: string): FileContent | Promise<FileContent>;
  /** Edits that were made on the files as of a version. */
  rebaseEdits(edits: readonly FileEdit[], base: number): CommitResponse | Promise<CommitResponse>;
}

/** So much goes to the daemon in one request, if there is more than one file in it. */
const maxRequestBytes = 4 * 1024 * 1024;
const maxNotes = 20;

/** The Linux sandbox of an agent with its workspace in it: brought there before a command, and back after it. */
export function attachFiles(linux: AgentLinux, files: LinuxFiles): Linux {
  const exchange = ({ isLast = false } = {}) =>
    linux.workingCopy.runExclusive(async () => {
      const brought = await exchangeFiles(linux.workingCopy, files, isLast);
      return combineResults({ notes: linux.workingCopy.pendingNotes.splice(0) }, brought);
    });

  /** What came of something is told, whatever became of the files. */
  async function after<T extends object>(result: T, before: FileSyncResult = {}): Promise<T & FileSyncResult> {
    const brought = await exchange().catch((error: unknown): FileSyncResult => ({
      notes: [`Files that were changed in the sandbox are not in the workspace yet: ${toErrorText(error)}`],
    }));
    return { ...result, ...combineResults(before, brought) };
  }

  return {
    async run(command, options) {
      const before = await exchange();
      try {
        return await after(await linux.run(command, options), before);
      } catch (error) {
        // It was canceled, or lost. What it did until then is done; the agent may be about to go.
        await exchange({ isLast: true }).catch(() => {});
        throw error;
      }
    },
    async start(command) {
      const before = await exchange();
      return { ...(await linux.start(command)), ...before };
    },
    async list() {
      const { notes = [] } = await after({});
      // A list has no place for them.
      linux.workingCopy.pendingNotes.push(...notes);
      return linux.list();
    },
    read: async (id) => after(await linux.read(id)),
    stop: async (id) => after(await linux.stop(id)),
  };
}

/** What was changed in the copy lands in the workspace, and the copy becomes what the workspace is then. */
async function exchangeFiles(copy: LinuxWorkingCopy, files: LinuxFiles, isLast: boolean): Promise<FileSyncResult> {
  const { collection, version, isBehind, isStuck, edits, except, notes } = await collectChanges(copy, files);
  if (isStuck) return limitNotes({ notes });
  let made: Version | undefined;
  /** The workspace is what the copy was, with what comes from there. */
  let isSame = !isBehind && edits.size === 1 && edits.has(version);
  for (const [base, group] of edits) {
    try {
      // A base that the workspace has not come to yet is from before it was restored.
      const landed = await files.rebaseEdits(group, base <= (await files.getVersion()) ? base : 0);
      made = landed.version ?? made;
      isSame &&= landed.overlaps.length === 0 && (landed.version?.id ?? version + 1) === version + 1;
      notes.push(...landed.overlaps.map(formatOverlap));
    } catch (error) {
      isSame = false;
      except.push(...group.map(getEditPath));
      notes.push(
        `What was changed in the sandbox could not be taken into the workspace, and stays in the sandbox: ${toErrorText(error)}`,
      );
    }
  }
  const now = await files.getVersion();
  isSame &&= now === (made?.id ?? version);
  if (!isLast && (edits.size > 0 || now !== version || isBehind)) {
    const all = isSame
      ? {}
      : { files: (await files.listFiles()).map(({ path, hash }): [string, string] => [path, hash]) };
    const needed = await copy.plan({ version: now, landed: collection, except, ...all });
    notes.push(...(await sendFiles(copy, files, needed)));
  }
  return limitNotes({ notes, ...(made ? { version: made } : {}) });
}

function getEditPath(edit: FileEdit): string {
  if ("write" in edit) return edit.write;
  return "delete" in edit ? edit.delete : edit.to;
}

async function collectChanges(copy: LinuxWorkingCopy, files: LinuxFiles) {
  let head = { collection: "", version: 0, isBehind: false, isStuck: true };
  let isWhole = false;
  const notes: string[] = [];
  const except: string[] = [];
  const edits = new Map<number, FileEdit[]>();
  const add = (base: number, edit: FileEdit) => {
    const group = edits.get(base);
    if (group) group.push(edit);
    else edits.set(base, [edit]);
  };
  for await (const { header, bytes } of copy.collect(files.maxFileBytes)) {
    const told = collectedEntrySchema.parse(header);
    if ("collection" in told) {
      head = told;
      notes.push(...told.notes);
    } else if ("delete" in told) add(told.base, { delete: told.delete });
    else if ("write" in told) {
      try {
        add(told.base, { write: told.write, content: await files.store(bytes, told.write) });
      } catch (error) {
        except.push(told.write);
        notes.push(`“${told.write}” stays in the sandbox and does not come into the workspace: ${toErrorText(error)}`);
      }
    } else isWhole = true;
  }
  if (!isWhole)
    throw fail(
      "unavailable",
      "The host was lost while files came back from the sandbox; they come with the next command.",
    );
  return { ...head, edits, except, notes };
}

/** Gives the daemon what it needs, many small files at a time. */
async function sendFiles(copy: LinuxWorkingCopy, files: LinuxFiles, needed: readonly string[]): Promise<string[]> {
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
      // It was deleted meanwhile, and goes the next time.
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

function formatOverlap({ path, line, kept, reason }: Overlap): string {
  const where = kept !== undefined ? ` It is “${kept}”.` : line !== undefined ? ` They begin at line ${line}.` : "";
  return `“${path}” was changed in the workspace while it was changed in the sandbox. ${reason}${where}`;
}

function combineResults(one: FileSyncResult, other: FileSyncResult): FileSyncResult {
  const version = other.version ?? one.version;
  return limitNotes({ notes: [...(one.notes ?? []), ...(other.notes ?? [])], ...(version ? { version } : {}) });
}

function limitNotes({ notes = [], version }: FileSyncResult): FileSyncResult {
  const shown =
    notes.length > maxNotes
      ? [...notes.slice(0, maxNotes), `${notes.length - maxNotes} more such notes are left out.`]
      : notes;
  return { ...(shown.length > 0 ? { notes: shown } : {}), ...(version ? { version } : {}) };
}

function toErrorText(error: unknown): string {
  return isThinkeryError(error) || error instanceof ToolError
    ? error.message
    : "the host could not do it; its log may say why.";
}
