import { type Blueprint, fail, type ListedBlueprint } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { bumpRevision } from "./revision.ts";

/** They are listed together, and each may have a megabyte. */
const maxTotalChars = 4_000_000;

/** The blueprints of one agency. Static ones come with the Worker; dynamic ones are stored and take precedence. */
export class Blueprints {
  readonly #sql: SqlStorage;
  readonly #static: ReadonlyMap<string, Blueprint>;

  readonly #agency: string;

  constructor(sql: SqlStorage, agency: string, statics: readonly Blueprint[]) {
    this.#sql = sql;
    this.#agency = agency;
    this.#static = new Map(statics.map((blueprint) => [toKey(blueprint.name), blueprint]));
  }

  list(): ListedBlueprint[] {
    const merged = new Map<string, ListedBlueprint>();
    for (const [name, blueprint] of this.#static) merged.set(name, { ...blueprint, source: "static" });
    for (const { data } of this.#sql.exec<{ data: string }>("SELECT data FROM blueprints ORDER BY name")) {
      const blueprint = JSON.parse(data) as Blueprint;
      merged.set(toKey(blueprint.name), { ...blueprint, source: "dynamic" });
    }
    return [...merged.values()];
  }

  find(name: string): ListedBlueprint | undefined {
    const [row] = this.#sql.exec<{ data: string }>("SELECT data FROM blueprints WHERE name = ?", name).toArray();
    if (row) return { ...(JSON.parse(row.data) as Blueprint), source: "dynamic" };
    const blueprint = this.#static.get(toKey(name));
    return blueprint && { ...blueprint, source: "static" };
  }

  get(name: string): ListedBlueprint {
    const blueprint = this.find(name);
    if (blueprint) return blueprint;
    const names = this.list().map((known) => known.name);
    const suggestion = findNearest(name, names);
    throw fail(
      "not_found",
      `Unknown blueprint “${name}”${suggestion ? `. Did you mean “${suggestion}”?` : `. Available: ${names.join(", ")}.`}`,
      suggestion ? { suggestion } : undefined,
    );
  }

  put(blueprint: Blueprint): ListedBlueprint {
    const data = JSON.stringify(blueprint);
    if (this.#countChars(blueprint.name) + data.length > maxTotalChars)
      throw fail(
        "too_large",
        `The blueprints of an agency can have at most ${maxTotalChars} characters together. Delete some, or shorten their prompts.`,
      );
    this.#sql.exec(
      "INSERT INTO blueprints (name, data, updated_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET name = excluded.name, data = excluded.data, updated_at = excluded.updated_at",
      blueprint.name,
      data,
      Date.now(),
    );
    this.#notifyChange();
    return { ...blueprint, source: "dynamic" };
  }

  delete(name: string): void {
    const blueprint = this.get(name);
    if (blueprint.source === "static") {
      throw fail("conflict", `The blueprint “${name}” is built in and cannot be deleted, only overridden.`);
    }
    this.#sql.exec("DELETE FROM blueprints WHERE name = ?", name);
    this.#notifyChange();
  }

  /** Counts all stored ones but one. */
  #countChars(exceptName: string): number {
    const query = "SELECT coalesce(sum(length(data)), 0) AS chars FROM blueprints WHERE name <> ?";
    return this.#sql.exec<{ chars: number }>(query, exceptName).one().chars;
  }

  #notifyChange(): void {
    bumpRevision(this.#agency);
  }
}

const toKey = (name: string) => name.toLowerCase();
