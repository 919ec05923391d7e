import { fail } from "@thinkery/sdk";

/**
 * The steps that bring an object's database to the present, oldest first. A released step is never edited:
 * data of every earlier release must open here.
 */
export type Migrations = readonly string[];

/** Runs the steps this database has not had yet, all or none. Cheap when there is nothing to do: one read. */
export function migrate(storage: DurableObjectStorage, migrations: Migrations): void {
  const done = storedVersion(storage.sql);
  if (done === migrations.length) return;
  if (done > migrations.length) {
    throw fail("unavailable", "This data was written by a newer Thinkery. Upgrade to open it; nothing was changed.");
  }
  storage.transactionSync(() => {
    storage.sql.exec("CREATE TABLE IF NOT EXISTS thinkery_schema (version INTEGER NOT NULL)");
    for (const step of migrations.slice(done)) storage.sql.exec(step);
    storage.sql.exec("DELETE FROM thinkery_schema");
    storage.sql.exec("INSERT INTO thinkery_schema (version) VALUES (?)", migrations.length);
  });
}

function storedVersion(sql: SqlStorage): number {
  const known = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'thinkery_schema'").toArray();
  if (known.length === 0) return 0;
  const [row] = sql.exec<{ version: number }>("SELECT version FROM thinkery_schema").toArray();
  return row?.version ?? 0;
}
