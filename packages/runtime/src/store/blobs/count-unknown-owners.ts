/** The classes whose objects need blobs, by the names of their folders. */
const ownerFolders = ["think", "agency"];
/** An object that was never used, or whose data was deleted, has a database of one page and no log. */
const emptyDatabaseBytes = 4096;

/**
 * Counts the objects of agents and agencies that have data and are not among these. Objects are files named after their
 * ids, in the folder of their class.
 */
export async function countUnknownOwners(objects: Fetcher, known: ReadonlySet<string>): Promise<number> {
  let count = 0;
  for (const folder of ownerFolders) count += await countUnknown(objects, folder, known);
  return count;
}

async function countUnknown(objects: Fetcher, folder: string, known: ReadonlySet<string>): Promise<number> {
  const response = await objects.fetch(`http://disk/${folder}/`);
  if (response.status === 404) return 0;
  if (!response.ok) throw new Error(`the objects could not be listed: ${response.status}`);
  const names = new Set(((await response.json()) as { name: string }[]).map(({ name }) => name));
  let count = 0;
  for (const name of names) {
    const id = /^([0-9a-f]{64})\.sqlite$/.exec(name)?.[1];
    if (!id || known.has(id)) continue;
    const bytes = await readSize(objects, folder, name);
    const logBytes = names.has(`${name}-wal`) ? await readSize(objects, folder, `${name}-wal`) : 0;
    if (bytes > emptyDatabaseBytes || logBytes > 0) count++;
  }
  return count;
}

async function readSize(objects: Fetcher, folder: string, name: string): Promise<number> {
  const response = await objects.fetch(`http://disk/${folder}/${name}`, { method: "HEAD" });
  return response.ok ? Number(response.headers.get("content-length") ?? 0) : 0;
}
