import { fail } from "@thinkery/sdk";

/**
 * The migration steps of one feature's tables, oldest first. A released step is never edited: data of every earlier
 * release must still open.
 */
export type Migrations = readonly string[];

/** The migrations of everything that an object stores, by feature. */
export type Schema = Readonly<Record<string, Migrations>>;

interface MigrateOptions {
  /**
   * Earlier releases counted the steps of all features in a single number. Says how many of them belonged to each
   * feature, in the order in which they ran. An object with one feature needs none.
   */
  formerSteps?: Record<string, number>;
  /** Creates the tables of a feature as all of its steps would, for an object that has none. */
  tables?: Readonly<Record<string, string>>;
  /** Features that an object can do without. Their tables are created by a later call that does not list them. */
  optional?: readonly string[];
}

/**
 * Runs the pending steps in one transaction. Cheap if there are none: two reads.
 */
export function migrate(
  storage: DurableObjectStorage,
  schema: Schema,
  { formerSteps = {}, tables = {}, optional = [] }: MigrateOptions = {},
): void {
  const { sql } = storage;
  const stored = readStoredVersions(sql) ?? readFormerVersions(sql, Object.keys(schema), formerSteps);
  for (const [feature, version] of stored) {
    // A feature unknown to this release was stored by a newer one.
    if (version > (schema[feature]?.length ?? 0)) {
      throw fail("unavailable", "This data was written by a newer Thinkery. Upgrade to open it; nothing was changed.");
    }
  }
  const wanted = Object.entries(schema).filter(([feature]) => stored.has(feature) || !optional.includes(feature));
  if (wanted.every(([feature, { length }]) => stored.get(feature) === length)) return;
  storage.transactionSync(() => {
    sql.exec("CREATE TABLE IF NOT EXISTS thinkery_features (feature TEXT PRIMARY KEY, version INTEGER NOT NULL)");
    sql.exec("DROP TABLE IF EXISTS thinkery_schema");
    for (const [feature, steps] of wanted) {
      const version = stored.get(feature) ?? 0;
      const created = version === 0 ? tables[feature] : undefined;
      for (const step of created === undefined ? steps.slice(version) : [created]) sql.exec(step);
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
  let remaining = sql.exec<{ version: number }>("SELECT version FROM thinkery_schema").toArray()[0]?.version ?? 0;
  for (const feature of features) {
    const version = Math.min(remaining, formerSteps[feature] ?? Number.POSITIVE_INFINITY);
    versions.set(feature, version);
    remaining -= version;
  }
  // Steps that belong to no feature are from a newer release.
  if (remaining > 0) versions.set("", remaining);
  return versions;
}

function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name).toArray().length > 0;
}
