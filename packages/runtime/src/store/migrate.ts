import { fail } from "@thinkery/sdk";

/**
 * The steps that bring one feature's tables to the present, oldest first. A released step is never edited: data of
 * every earlier release must open here.
 */
export type Migrations = readonly string[];

/** The migrations of everything that an object stores, by feature. */
export type Schema = Readonly<Record<string, Migrations>>;

/**
 * Runs the steps that this database has not had yet, all or none. Cheap if there is nothing to do: two reads.
 *
 * Releases before features had tables of their own counted the steps of all of them in one number. `formerSteps` says
 * how many each feature had by then, in the order in which they ran; an object with one feature needs none.
 */
export function migrate(storage: DurableObjectStorage, schema: Schema, formerSteps: Record<string, number> = {}): void {
  const { sql } = storage;
  const stored = readStoredVersions(sql) ?? readFormerVersions(sql, Object.keys(schema), formerSteps);
  for (const [feature, version] of stored) {
    // A feature that this release does not know is one that a newer release stored something with.
    if (version > (schema[feature]?.length ?? 0)) {
      throw fail("unavailable", "This data was written by a newer Thinkery. Upgrade to open it; nothing was changed.");
    }
  }
  if (Object.entries(schema).every(([feature, { length }]) => stored.get(feature) === length)) return;
  storage.transactionSync(() => {
    sql.exec("CREATE TABLE IF NOT EXISTS thinkery_features (feature TEXT PRIMARY KEY, version INTEGER NOT NULL)");
    sql.exec("DROP TABLE IF EXISTS thinkery_schema");
    for (const [feature, steps] of Object.entries(schema)) {
      for (const step of steps.slice(stored.get(feature) ?? 0)) sql.exec(step);
      sql.exec("INSERT OR REPLACE INTO thinkery_features (feature, version) VALUES (?, ?)", feature, steps.length);
    }
  });
}

type Versions = Map<string, number>;

function readStoredVersions(sql: SqlStorage): Versions | undefined {
  if (!hasTable(sql, "thinkery_features")) return undefined;
  const rows = sql
    .exec<{ feature: string; version: number }>("SELECT feature, version FROM thinkery_features")
    .toArray();
  return new Map(rows.map(({ feature, version }) => [feature, version]));
}

function readFormerVersions(
  sql: SqlStorage,
  features: readonly string[],
  formerSteps: Record<string, number>,
): Versions {
  const versions: Versions = new Map();
  if (!hasTable(sql, "thinkery_schema")) return versions;
  let left = sql.exec<{ version: number }>("SELECT version FROM thinkery_schema").toArray()[0]?.version ?? 0;
  for (const feature of features) {
    const version = Math.min(left, formerSteps[feature] ?? Number.POSITIVE_INFINITY);
    versions.set(feature, version);
    left -= version;
  }
  // Steps that no feature claims were a newer release's.
  if (left > 0) versions.set("", left);
  return versions;
}

function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name).toArray().length > 0;
}
