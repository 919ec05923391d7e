import { randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail, findNameIssue, nameRules, parseAddress } from "@thinkery/sdk";

interface AgentFoldersOptions {
  /** All of them lie in it. */
  root: string;
  /** Whose they are, where that is not us. */
  owner: number | undefined;
  /** Empties a folder from the inside, where nothing leads out of it, no path is too long and nothing is too much. */
  empty(folder: string): Promise<void>;
  onError(text: string): void;
}

const removedPrefix = ".gone-";

/** A folder for each agent, under the names of its agency and its own. */
export class AgentFolders {
  readonly #options: AgentFoldersOptions;

  constructor(options: AgentFoldersOptions) {
    this.#options = options;
  }

  /** Makes it, where it is not there yet. */
  async open(agent: string): Promise<string> {
    const path = this.#getPath(agent);
    // Its agency's folder is removed with the last agent in it, which may be this very moment.
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

  /** A folder for what is to be known of that one, out of sight of whoever works in it. */
  async openMetadata(agent: string): Promise<string> {
    const path = this.#getMetadataPath(agent);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** From here on the name is free; what lies in the folder goes as soon as it can. */
  async delete(agent: string): Promise<void> {
    const path = this.#getPath(agent);
    const beside = this.#getMetadataPath(agent);
    await rm(beside, { recursive: true, force: true });
    await rmdir(dirname(beside)).catch(() => {});
    const away = join(this.#options.root, `${removedPrefix}${randomBytes(8).toString("hex")}`);
    try {
      await rename(path, away);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    await rmdir(dirname(path)).catch(() => {});
    void this.#remove(away);
  }

  /** What a host that was killed had put away and not removed. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#options.root).catch(() => []);
    for (const name of names) if (name.startsWith(removedPrefix)) await this.#remove(join(this.#options.root, name));
  }

  /** No agency's name begins with a dot. */
  #getMetadataPath(agent: string): string {
    this.#getPath(agent);
    return join(this.#options.root, ".beside", agent);
  }

  /** Names come from requests, and a path must not lead elsewhere. */
  #getPath(name: string): string {
    const { agency = "", path: [agent, ...subAgents] = [""] } = parseAddress(name) ?? {};
    if (subAgents.length > 0 || findNameIssue(nameRules.agency, agency) || findNameIssue(nameRules.agent, agent))
      throw fail("bad_request", "There is no such agent.");
    return join(this.#options.root, agency, agent);
  }

  async #create(path: string): Promise<string> {
    const { root, owner } = this.#options;
    for (const folder of [root, dirname(path), path]) {
      await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      const found = await lstat(folder);
      if (!found.isDirectory())
        throw fail("unavailable", "The agent's folder is no folder; see what is there, and remove it.");
      // Whoever it belongs to may have closed it to themselves.
      if (folder === path && (found.mode & 0o777) !== 0o700) await chmod(path, 0o700);
      if (folder === path && owner !== undefined && found.uid !== owner) await chown(path, owner, owner);
    }
    return path;
  }

  async #remove(folder: string): Promise<void> {
    try {
      await this.#options.empty(folder).catch(() => {});
      await rm(folder, { recursive: true, force: true });
    } catch (error) {
      this.#options.onError(
        `the folder of a deleted agent could not be removed (${(error as Error).message}); the next start tries again`,
      );
    }
  }
}
