import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Bundle, type Bundler, createBundler } from "./bundle.ts";
import { createMissingPackageError, packageFile } from "./package-target.ts";
import { type AgentPackage, parsePackage } from "./read-package.ts";

/** Reads and bundles a package again and again; only what has changed is read. */
export class PackageSource {
  readonly #folder: string;
  readonly #dir: string;
  #text: string | undefined;
  #package: AgentPackage | undefined;
  #bundler: Bundler | undefined;

  /** `dir` is the folder as the user wrote it. */
  constructor(folder: string, dir: string) {
    this.#folder = folder;
    this.#dir = dir;
  }

  async load(): Promise<{ description: AgentPackage; bundle: Bundle }> {
    const description = await this.#readPackage();
    this.#bundler ??= await createBundler(description, this.#dir);
    return { description, bundle: await this.#bundler.bundle() };
  }

  async close(): Promise<void> {
    await this.#bundler?.close();
    this.#bundler = undefined;
  }

  async #readPackage(): Promise<AgentPackage> {
    const text = await readFile(join(this.#folder, packageFile), "utf8").catch(() => undefined);
    if (text === undefined) throw createMissingPackageError(this.#dir);
    if (text === this.#text && this.#package) return this.#package;
    this.#text = undefined;
    const found = await parsePackage(this.#folder, join(this.#dir, packageFile), text);
    if (found.entry !== this.#package?.entry) await this.close();
    this.#package = found;
    this.#text = text;
    return found;
  }
}
