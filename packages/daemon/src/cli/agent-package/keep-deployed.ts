import { createHash } from "node:crypto";
import { readdir, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Deploy, isThinkeryError, type NewDeploy, type ThinkeryError } from "@thinkery/sdk";
import { ChangeSignal } from "../change-signal.ts";
import { FolderWatch } from "../files/sync-watch.ts";
import { wait } from "../wait.ts";
import { createDeploy } from "./deploy-package.ts";
import { PackageSource } from "./package-source.ts";

interface KeepDeployedOptions {
  cwd: string;
  /** The folder of the package as the user wrote it. */
  dir: string;
  signal: AbortSignal;
  deploy(body: Omit<NewDeploy, "dryRun" | "createAgent">, signal: AbortSignal): Promise<Deploy>;
  onDeployed(deploy: Deploy, ms: number): void;
  /** Called when a version cannot be built or deployed. The one before still runs. */
  onFailed(error: ThinkeryError): void;
  /** Called when the host becomes unavailable or available again. */
  onHostChange(isAvailable: boolean): void;
  /** Finds the host again. */
  reconnect(): Promise<void>;
}

/** Editors write a file in several steps. */
const debounceMs = 20;
/** Finds changes that no watcher reported. */
const pollMs = 15_000;
/** The same if a folder cannot be watched. */
const blindPollMs = 1000;
const reconnectMs = 1000;
/** The same error again so soon is about the same save. */
const repeatedErrorMs = 1000;

/** Deploys a package whenever it changes, until the signal aborts. Returns whether the newest version is deployed. */
export async function keepDeployed(options: KeepDeployedOptions): Promise<boolean> {
  const { cwd, dir, signal } = options;
  const folder = await realpath(resolve(cwd, dir));
  const changes = new ChangeSignal();
  const watch = new FolderWatch(folder, () => changes.set());
  const deployer = new Deployer(folder, options);
  watch.setFolders(await listFolders(folder));
  let startedAt = performance.now();
  try {
    while (!signal.aborted) {
      const hasChanged = changes.isSet;
      // What changes from here on is deployed next, in one go.
      changes.clear();
      const isReachable = await deployer.deployChanges({ hasChanged, startedAt });
      if (!isReachable) {
        await wait(reconnectMs, signal);
        if (!signal.aborted) await options.reconnect();
        continue;
      }
      // A missing file may appear anywhere.
      if (watch.setFolders(deployer.inputFolders ?? (await listFolders(folder)))) changes.set();
      await changes.wait(watch.isBlind || deployer.hasUnwatchedInputs ? blindPollMs : pollMs, signal);
      startedAt = performance.now();
      await wait(debounceMs, signal);
    }
    return deployer.isCurrent && !changes.isSet;
  } finally {
    watch.close();
    await deployer.close();
  }
}

class Deployer {
  /** The folders whose changes matter; undefined while the package cannot be bundled. */
  inputFolders: string[] | undefined;
  /** Whether the newest version is deployed. */
  isCurrent = false;
  readonly #options: KeepDeployedOptions;
  readonly #source: PackageSource;
  #deployedHash: string | undefined;
  #refusedHash: string | undefined;
  #isAway = false;
  #lastFailure: { message: string; at: number } | undefined;

  constructor(folder: string, options: KeepDeployedOptions) {
    this.#options = options;
    this.#source = new PackageSource(folder, options.dir);
  }

  /** Where one watcher covers a folder and all below it, there is none for others. */
  get hasUnwatchedInputs(): boolean {
    return process.platform !== "linux" && this.inputFolders?.some((folder) => folder.startsWith("..")) === true;
  }

  /** Deploys what the files contain, unless it is deployed already. Returns false if the host is unavailable. */
  async deployChanges({ hasChanged, startedAt }: { hasChanged: boolean; startedAt: number }): Promise<boolean> {
    const { deploy, onDeployed, onHostChange, signal } = this.#options;
    this.isCurrent = false;
    this.inputFolders = undefined;
    try {
      const { description, bundle } = await this.#source.load();
      this.inputFolders = listInputFolders(bundle.files);
      const body = createDeploy(description, bundle);
      const hash = createHash("sha256").update(JSON.stringify(body)).digest("hex");
      // What was refused is tried again when somebody saves it again.
      if (hash === this.#refusedHash && !hasChanged) return true;
      if (hash !== this.#deployedHash) {
        this.#refusedHash = hash;
        const result = await deploy(body, signal);
        this.#deployedHash = hash;
        if (this.#isAway) onHostChange(true);
        this.#isAway = false;
        onDeployed({ ...result, warnings: [...bundle.warnings, ...result.warnings] }, performance.now() - startedAt);
      }
      this.#refusedHash = undefined;
      this.#lastFailure = undefined;
      this.isCurrent = true;
      return true;
    } catch (error) {
      return this.#handleError(error, hasChanged);
    }
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  #handleError(error: unknown, hasChanged: boolean): boolean {
    const { signal, onHostChange, onFailed } = this.#options;
    if (signal.aborted) return true;
    if (!isThinkeryError(error) || error.code === "forbidden" || error.code === "unauthorized") throw error;
    const isAway = error.code === "unavailable";
    if (isAway !== this.#isAway) onHostChange(!isAway);
    this.#isAway = isAway;
    if (isAway) {
      this.#refusedHash = undefined;
      return false;
    }
    const now = performance.now();
    const last = this.#lastFailure;
    if (last?.message === error.message && (!hasChanged || now - last.at < repeatedErrorMs)) return true;
    this.#lastFailure = { message: error.message, at: now };
    onFailed(error);
    return true;
  }
}

/** Returns the folders of files with those above them, because a folder that is replaced is seen only from above. */
function listInputFolders(files: readonly string[]): string[] {
  const folders = new Set([""]);
  for (const file of files) {
    const parts = dirname(file).split("/");
    const first = parts[0] === ".." ? parts.length - 1 : 1;
    for (let length = first; length <= parts.length; length++) folders.add(parts.slice(0, length).join("/"));
  }
  folders.delete(".");
  return [...folders];
}

const maxFolders = 1000;

/** Lists all folders of a package, without those of its dependencies. */
async function listFolders(root: string): Promise<string[]> {
  const folders = [""];
  // Iterating an array includes entries added meanwhile.
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    const inner = entries.filter(
      (entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."),
    );
    folders.push(...inner.map(({ name }) => join(folder, name)));
    if (folders.length > maxFolders) break;
  }
  return folders;
}
