import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail, isAgentAddress, parseAddress } from "@thinkery/sdk";
import { getErrorCode, OpenFolder } from "../../folder/open-folder.ts";
import { removeFolder } from "../../folder/remove.ts";

interface AgentFoldersOptions {
  /** Contains all of the folders. */
  root: string;
  /** User id of their owner, if it is not ours. */
  owner: number | undefined;
  /** Empties a folder from inside the sandbox, where links cannot lead out of it and paths cannot be too long. */
  empty(folder: string): Promise<void>;
  onError(text: string): void;
}

const removedPrefix = ".gone-";

/** Manages a folder for each agent, at `<root>/<agency>/<agent>`, and `<agent>+<sub-agent>` for its sub-agents. */
export class AgentFolders {
  readonly #options: AgentFoldersOptions;

  constructor(options: AgentFoldersOptions) {
    this.#options = options;
  }

  /** Creates the folder if it does not exist. */
  async open(agent: string): Promise<string> {
    const path = this.#getPath(agent);
    // The agency's folder is removed with its last agent, which may happen concurrently.
    return this.#create(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return this.#create(path);
    });
  }

  async has(agent: string): Promise<boolean> {
    return lstat(this.#getPath(agent)).then(
      (found) => found.isDirectory(),
      () => false,
    );
  }

  /** Opens a folder for metadata, which the agent's commands cannot see. */
  async openMetadata(agent: string): Promise<string> {
    const path = this.#getMetadataPath(agent);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Frees the name at once and deletes the contents in the background. */
  async delete(agent: string): Promise<void> {
    const path = this.#getPath(agent);
    const metadata = this.#getMetadataPath(agent);
    await rm(metadata, { recursive: true, force: true });
    await rmdir(dirname(metadata)).catch(() => {});
    const removed = join(this.#options.root, `${removedPrefix}${randomBytes(8).toString("hex")}`);
    try {
      await rename(path, removed);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    await rmdir(dirname(path)).catch(() => {});
    void this.#remove(removed);
  }

  /** Deletes what a killed host did not finish deleting. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#options.root).catch(() => []);
    for (const name of names) if (name.startsWith(removedPrefix)) await this.#remove(join(this.#options.root, name));
  }

  /** Cannot collide with an agency, whose name never starts with a dot. */
  #getMetadataPath(agent: string): string {
    this.#getPath(agent);
    return join(this.#options.root, ".beside", agent.replaceAll("/", "+"));
  }

  /** Validates the name, which comes from a request, so that the path stays inside the root. */
  #getPath(name: string): string {
    if (!isAgentAddress(name)) throw fail("bad_request", "This is not the name of an agent.");
    const { agency = "", path = [""] } = parseAddress(name) ?? {};
    // Beside its parent's folder, not in it. No name contains a “+”.
    return join(this.#options.root, agency, path.join("+"));
  }

  async #create(path: string): Promise<string> {
    const { root, owner } = this.#options;
    for (const folder of [root, dirname(path), path]) {
      await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      const opened = openExisting(folder);
      try {
        if (folder === path) restoreRights(opened, owner);
      } finally {
        opened.close();
      }
    }
    return path;
  }

  async #remove(folder: string): Promise<void> {
    try {
      await this.#options.empty(folder).catch(() => {});
      await removeFolder(folder);
    } catch (error) {
      this.#options.onError(
        `failed to delete the folder of a deleted agent (${(error as Error).message}); the next start tries again`,
      );
    }
  }
}

function openExisting(path: string): OpenFolder {
  try {
    return OpenFolder.openAnyMode(path);
  } catch (error) {
    if (!["ENOTDIR", "ELOOP"].includes(getErrorCode(error) ?? "")) throw error;
    throw fail("unavailable", "The agent's folder is not a folder. Check what is there and remove it.");
  }
}

/** The agent's own commands may have removed their permissions. */
function restoreRights(folder: OpenFolder, owner: number | undefined): void {
  const { mode, uid } = folder.stat();
  if ((mode & 0o777) !== 0o700) folder.setMode(0o700);
  if (owner !== undefined && uid !== owner) folder.setOwner(owner);
}
