import {
  type AgentManifest,
  fail,
  type Package,
  type PackageSummary,
  type PackageVersion,
  type PageQuery,
} from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { type CodeVersion, summarizeTools } from "../drivers/isolate/code-version.ts";
import type { CodeDescription } from "../sandbox/agent-description.ts";
import type { AgentCode } from "../sandbox/agent-run.ts";

/** More than anybody deploys by hand, and a bound for what an agency stores. */
const maxPackages = 100;
const maxKeptVersions = 50;
const maxContentBytes = 1_500_000;

export interface NewVersion {
  name: string;
  hash: string;
  bytes: number;
  /** The description in package.json. */
  summary: string;
  manifest: AgentManifest;
  description: CodeDescription;
  content: Uint8Array;
  by: string;
}

interface Details {
  summary: string;
  description: CodeDescription;
}

interface VersionRow extends Record<string, SqlStorageValue> {
  package: string;
  version: number;
  hash: string;
  bytes: number;
  manifest: string;
  details: string;
  deployed_at: number;
  deployed_by: string;
}

interface PackageRow extends Record<string, SqlStorageValue> {
  name: string;
  current: number;
  latest: number;
}

const versionColumns = "package, version, hash, bytes, manifest, details, deployed_at, deployed_by";

/** The code of an agency's own agents, in versions. */
export class Packages {
  readonly #sql: SqlStorage;
  /** Returns the agents that run a package. */
  readonly #listAgents: (name: string) => string[];

  constructor(sql: SqlStorage, listAgents: (name: string) => string[]) {
    this.#sql = sql;
    this.#listAgents = listAgents;
  }

  list({ limit, after = "" }: PageQuery): { packages: PackageSummary[]; next?: string } {
    const rows = this.#sql
      .exec<PackageRow>("SELECT * FROM packages WHERE name > ? ORDER BY name LIMIT ?", after, limit + 1)
      .toArray();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      packages: page.map((row) => this.#toSummary(row)),
      ...(rows.length > limit && last ? { next: last.name } : {}),
    };
  }

  get(name: string): Package {
    const row = this.#getRow(name);
    const versions = this.#sql
      .exec<VersionRow>(
        `SELECT ${versionColumns} FROM package_versions WHERE package = ? ORDER BY version DESC`,
        row.name,
      )
      .toArray()
      .map((version) => toPackageVersion(version, row.current));
    return { ...this.#toSummary(row), versions };
  }

  /** Returns undefined if the package, or this version of it, is gone. */
  find(name: string, version?: number): CodeVersion | undefined {
    const row = this.#findRow(name);
    const found = row && this.#findVersion(row.name, version ?? row.current);
    return found && toCodeVersion(found);
  }

  /** Returns the tools that the current versions provide. */
  listProvided(): { name: string; tools: CodeDescription["tools"] }[] {
    const rows = this.#sql.exec<{ name: string; details: string }>(
      `SELECT name, details FROM packages JOIN package_versions ON package = name AND version = current ORDER BY name`,
    );
    return rows
      .toArray()
      .map(({ name, details }) => ({ name, tools: (JSON.parse(details) as Details).description.tools }))
      .filter(({ tools }) => tools.length > 0);
  }

  async readCode(name: string, version: number): Promise<AgentCode> {
    const [row] = this.#sql
      .exec<{ content: ArrayBuffer }>(
        "SELECT content FROM package_versions WHERE package = ? AND version = ?",
        name,
        version,
      )
      .toArray();
    if (!row) throw fail("not_found", `Version ${version} of “${name}” is no longer stored. Deploy it again.`);
    return unpackCode(new Uint8Array(row.content));
  }

  /** Stores a version and makes it the current one. */
  put({ name, hash, bytes, summary, manifest, description, content, by }: NewVersion): number {
    if (content.byteLength > maxContentBytes)
      throw fail(
        "too_large",
        `The code and its source map have ${content.byteLength} bytes compressed; the limit is ${maxContentBytes}. Import less, or deploy without a source map.`,
      );
    const known = this.#findRow(name);
    if (!known && this.#count() >= maxPackages)
      throw fail("conflict", `An agency can have at most ${maxPackages} packages. Delete one: \`thinkery agent rm\`.`);
    const version = (known?.latest ?? 0) + 1;
    this.#sql.exec(
      `INSERT INTO packages (name, current, latest) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET current = excluded.current, latest = excluded.latest`,
      known?.name ?? name,
      version,
      version,
    );
    this.#sql.exec(
      `INSERT INTO package_versions (${versionColumns}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      known?.name ?? name,
      version,
      hash,
      bytes,
      JSON.stringify(manifest),
      JSON.stringify({ summary, description } satisfies Details),
      Date.now(),
      by,
      content,
    );
    this.#sql.exec(
      "DELETE FROM package_versions WHERE package = ? AND version <= ? AND version <> ?",
      name,
      version - maxKeptVersions,
      version,
    );
    return version;
  }

  /** Makes a version the current one; by default the one before. Returns the former one's number. */
  rollBack(name: string, version: number | undefined): number {
    const row = this.#getRow(name);
    const target = version ?? this.#findEarlier(row);
    if (target === undefined) throw fail("conflict", `“${row.name}” has no version before ${row.current}.`);
    if (!this.#findVersion(row.name, target))
      throw fail(
        "not_found",
        `“${row.name}” has no version ${target}. Stored: ${this.get(row.name)
          .versions.map((stored) => stored.version)
          .join(", ")}.`,
      );
    this.#sql.exec("UPDATE packages SET current = ? WHERE name = ?", target, row.name);
    return row.current;
  }

  /** Returns the package's name. */
  delete(name: string): string {
    const row = this.#getRow(name);
    const agents = this.#listAgents(row.name);
    if (agents.length > 0)
      throw fail(
        "conflict",
        `“${row.name}” is used by ${agents.join(", ")}. Delete ${agents.length === 1 ? "this agent" : "these agents"} first.`,
      );
    this.#sql.exec("DELETE FROM package_versions WHERE package = ?", row.name);
    this.#sql.exec("DELETE FROM packages WHERE name = ?", row.name);
    return row.name;
  }

  #toSummary(row: PackageRow): PackageSummary {
    const version = this.#findVersion(row.name, row.current) as VersionRow;
    const { displayName, capabilities, settings, description } = toCodeVersion(version);
    return {
      name: row.name,
      displayName,
      description: (JSON.parse(version.details) as Details).summary,
      version: row.current,
      capabilities,
      tools: summarizeTools(description),
      settings,
      agents: this.#listAgents(row.name),
      deployedAt: new Date(version.deployed_at).toISOString(),
      deployedBy: version.deployed_by,
    };
  }

  #findEarlier({ name, current }: PackageRow): number | undefined {
    return (
      this.#sql
        .exec<{ version: number | null }>(
          "SELECT max(version) AS version FROM package_versions WHERE package = ? AND version < ?",
          name,
          current,
        )
        .one().version ?? undefined
    );
  }

  #findVersion(name: string, version: number): VersionRow | undefined {
    return this.#sql
      .exec<VersionRow>(
        `SELECT ${versionColumns} FROM package_versions WHERE package = ? AND version = ?`,
        name,
        version,
      )
      .toArray()[0];
  }

  #getRow(name: string): PackageRow {
    const row = this.#findRow(name);
    if (row) return row;
    const names = this.#sql.exec<{ name: string }>("SELECT name FROM packages ORDER BY name").toArray();
    const suggestion = findNearest(
      name,
      names.map((known) => known.name),
    );
    const hint = suggestion ? `Did you mean “${suggestion}”?` : "Deploy one with `thinkery agent deploy <folder>`.";
    throw fail("not_found", `There is no package “${name}” here. ${hint}`, suggestion ? { suggestion } : undefined);
  }

  #findRow(name: string): PackageRow | undefined {
    return this.#sql.exec<PackageRow>("SELECT * FROM packages WHERE name = ?", name).toArray()[0];
  }

  #count(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM packages").one().n;
  }
}

function toCodeVersion({ package: name, version, hash, manifest: json, details }: VersionRow): CodeVersion {
  const manifest = JSON.parse(json) as AgentManifest;
  const { description } = JSON.parse(details) as Details;
  return {
    package: name,
    version,
    hash,
    displayName: manifest.displayName ?? name,
    capabilities: manifest.capabilities,
    settings: { ...manifest.settings, ...description.settings },
    description,
  };
}

function toPackageVersion(row: VersionRow, current: number): PackageVersion {
  const { capabilities } = JSON.parse(row.manifest) as AgentManifest;
  return {
    version: row.version,
    hash: row.hash,
    bytes: row.bytes,
    capabilities,
    deployedAt: new Date(row.deployed_at).toISOString(),
    deployedBy: row.deployed_by,
    isCurrent: row.version === current,
  };
}

/** Compresses code and its source map for storage. */
export async function packCode(code: AgentCode): Promise<Uint8Array> {
  const stream = new Blob([JSON.stringify(code)]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackCode(content: Uint8Array): Promise<AgentCode> {
  const stream = new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as AgentCode;
}
