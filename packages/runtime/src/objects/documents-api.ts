import {
  type CommitResult,
  fail,
  type FileContent,
  type FileEdit,
  type FileInfo,
  type Origin,
  parseFilePath,
  type TeamDocuments,
} from "@thinkery/sdk";
import { decodeText } from "../workspace/content.ts";
import { LocalWorkspace } from "../workspace/local-workspace.ts";
import { findSimilarPaths } from "../workspace/similar-paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { FilesApi } from "./files-api.ts";

/** The call of an agent that uses documents. */
export interface DocumentCall {
  agent: string;
  runId: string;
  callId: string;
  tool: string;
}

/** One change that such a call makes. The same key again is the same change. */
export interface DocumentChange extends DocumentCall {
  key: string;
}

interface Written {
  version: number | undefined;
}

/** Calls pass documents as values, which RPC limits to some megabytes. */
const maxReadBytes = 8 * 1024 * 1024;
/** Others may change a document that is too large to be changed at once. */
const maxAppendAttempts = 20;

/**
 * The documents of an agency: for users' requests, with the methods of an agent's files, and for calls of agents. They
 * have no branches.
 */
export class DocumentsApi extends FilesApi {
  readonly #open: () => Promise<Workspace>;

  constructor(open: () => Promise<Workspace>) {
    const refuse = () => Promise.reject(fail("bad_request", "Documents have no branches."));
    super(open, refuse, (path) => `Document “${path}” not found`);
    this.#open = open;
  }

  /** Writes the documents that do not exist yet. */
  async seed(documents: Record<string, string>, user: string): Promise<void> {
    const workspace = await this.#open();
    const missing = Object.entries(documents).filter(([name]) => !workspace.stat(name));
    const edits = missing.map(([name, content]) => ({ write: name, content }));
    if (edits.length > 0) await this.edit({ edits }, {}, user);
  }

  async listForAgent(): ReturnType<TeamDocuments["list"]> {
    const { files } = (await this.#open()).list();
    return files.map(({ path, size, modifiedAt }) => ({ name: path, size, modifiedAt }));
  }

  async readForAgent(name: string): Promise<string> {
    const workspace = await this.#open();
    const path = parseFilePath(name);
    return readText(workspace, requireFile(workspace, path));
  }

  async writeForAgent(name: string, text: string, change: DocumentChange, isNew: boolean): Promise<Written> {
    const workspace = await this.#open();
    const path = parseFilePath(name);
    const content = await workspace.store(text, path);
    const edit: FileEdit = { write: path, content };
    const { version, stale } = await commit(workspace, edit, change, isNew ? null : undefined);
    if (stale === undefined) return { version: version?.id };
    throw fail("conflict", `There is already a document “${path}”. Read it before you change it.`);
  }

  async appendForAgent(name: string, text: string, change: DocumentChange): Promise<Written> {
    const workspace = await this.#open();
    const path = parseFilePath(name);
    // The document may have been deleted since.
    const earlier = workspace.findCommit(change.key);
    if (earlier) return { version: earlier.version?.id };
    for (let attempt = 0; attempt < maxAppendAttempts; attempt++) {
      const file = requireFile(workspace, path);
      const content: FileContent = await workspace.store((await readText(workspace, file)) + text, path);
      const { version, stale } = await commit(workspace, { write: path, content }, change, file.hash);
      if (stale === undefined) return { version: version?.id };
    }
    throw fail("conflict", `“${path}” is being changed by others all the time. Try again later.`);
  }
}

/** Opens the documents for one call of an agent. */
export function openDocuments(
  api: Pick<DocumentsApi, "listForAgent" | "readForAgent" | "writeForAgent" | "appendForAgent">,
  call: DocumentCall,
  createKey: () => string,
): TeamDocuments {
  const createChange = (): DocumentChange => ({ ...call, key: createKey() });
  return {
    list: () => api.listForAgent(),
    read: (name) => api.readForAgent(name),
    write: (name, content, { isNew = false } = {}) => api.writeForAgent(name, content, createChange(), isNew),
    append: (name, content) => api.appendForAgent(name, content, createChange()),
  };
}

/** Commits one change. `expected` is the hash that the document must have; null if it must not exist. */
function commit(
  workspace: Workspace,
  edit: FileEdit & { write: string },
  { agent, runId, callId, tool, key }: DocumentChange,
  expected: string | null | undefined,
): Promise<CommitResult> {
  const origin: Origin = { kind: "agent", agent, turn: runId, toolCall: callId, tool };
  return new LocalWorkspace(workspace).commit({
    edits: [edit],
    origin,
    key,
    ...(expected === undefined ? {} : { expected: { [edit.write]: expected } }),
  });
}

function requireFile(workspace: Workspace, path: string): FileInfo {
  const file = workspace.stat(path);
  if (file) return file;
  const paths = workspace.list().files.map((other) => other.path);
  const similar = findSimilarPaths(paths, path);
  const advice = similar.length > 0 ? ` Did you mean ${similar.join(", ")}?` : "";
  throw fail("not_found", `There is no document “${path}”.${advice}`);
}

async function readText(workspace: Workspace, { path, size, mediaType }: FileInfo): Promise<string> {
  if (size > maxReadBytes)
    throw fail(
      "too_large",
      `“${path}” is too large for this: ${size} bytes, and at most ${maxReadBytes} are possible.`,
    );
  const content = workspace.getContent(path);
  if (content === undefined) throw fail("conflict", `“${path}” was deleted just now.`);
  if (typeof content === "string") return content;
  const text = decodeText(await workspace.readBytes(content, path));
  if (text === undefined) throw fail("bad_request", `“${path}” is not text: ${mediaType}, ${size} bytes.`);
  return text;
}
