/** Where the additional handlers of a split host listen. */
interface SplitOptions {
  /** A second handler for the same objects. */
  secondPort: number;
  /** A handler with its own objects, in `otherObjects`: another Worker that shares the slots. */
  otherPort: number;
  otherObjects: string;
}

const classes = ["Think", "Agency", "User"];

/**
 * Rewrites main's config so that the handler and each object class are separate services, in isolates that share no
 * module state, as on Cloudflare.
 */
export function splitIsolates(config: string, { secondPort, otherPort, otherObjects }: SplitOptions): string {
  const block = /const main :Workerd\.Worker = \(\n([\s\S]*?)\n\);\n/;
  const [, main = ""] = block.exec(config) ?? [];
  const namespaces = /^ {2}durableObjectNamespaces = \[[\s\S]*?^ {2}\],\n/m;
  const storage = /^ {2}durableObjectStorage = .*\n/m;
  if (!namespaces.test(main) || !storage.test(main))
    throw new Error("Main's configuration has changed: adapt splitIsolates.");

  const split = main.replaceAll(
    /durableObjectNamespace = "(\w+)"/g,
    (_, name: string) => `durableObjectNamespace = (className = "${name}", serviceName = "${name}")`,
  );
  const handler = split.replace(namespaces, "").replace(storage, "");
  const objects = (name: string) =>
    split.replace(
      namespaces,
      `  durableObjectNamespaces = [ (className = "${name}", uniqueKey = "${name.toLowerCase()}", enableSql = true) ],\n`,
    );
  const other = main
    .replaceAll(/uniqueKey = "(\w+)"/g, `uniqueKey = "other-$1"`)
    .replace(storage, `  durableObjectStorage = (localDisk = "other-objects"),\n`);

  const worker = (name: string, fields: string) => `const ${name} :Workerd.Worker = (\n${fields}\n);\n`;
  const services = [
    `(name = "main", worker = .main)`,
    `(name = "second", worker = .second)`,
    ...classes.map((name) => `(name = "${name}", worker = .objectsOf${name})`),
    `(name = "other", worker = .other)`,
    `(name = "other-objects", disk = (path = "${otherObjects}", writable = true))`,
  ];
  const socket = (service: string, port: number) =>
    `(name = "${service}", address = "127.0.0.1:${port}", http = (), service = "${service}")`;
  const workers = [
    worker("main", handler),
    worker("second", handler),
    ...classes.map((name) => worker(`objectsOf${name}`, objects(name))),
    worker("other", other),
  ];
  return config
    .replace(block, () => workers.join("\n"))
    .replace(`(name = "main", worker = .main)`, services.join(",\n    "))
    .replace(
      `(name = "http", `,
      `${socket("second", secondPort)},\n    ${socket("other", otherPort)},\n    (name = "http", `,
    );
}
