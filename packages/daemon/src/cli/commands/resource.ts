import { resolve } from "node:path";
import { Readable } from "node:stream";
import { fail, type Resource } from "@thinkery/sdk";
import type { Resources } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, getAgency } from "../agency-option.ts";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatSize } from "../files/format.ts";
import { readLocalFile } from "../files/read-local.ts";
import { saveFile } from "../files/save.ts";
import { formatWhen } from "../format-when.ts";
import { formatExamples } from "../help.ts";
import { readAllPages } from "../lists.ts";
import { sanitize } from "../output.ts";
import { findByPrefix, shortenIds } from "../waits/inbox.ts";

const idHelp = "hash from `resource ls`, or its start";
const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text);

export function addResource(program: Command, cli: Cli): void {
  const group = program
    .command("resource")
    .description("list, print and store large contents that messages refer to by their hash")
    .addHelpText(
      "after",
      formatExamples(["resource ls -a @review", ""], ["resource get 1f3c9a20", ""], ["resource put report.md", ""]),
    );
  addList(group, cli);
  addGet(group, cli);
  addPut(group, cli);
}

function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list the resources of an agency")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["resource ls", ""], ["resource ls -a @review", ""]))
    .action((flags: AgencyFlags) =>
      withResources(cli, flags, async (store, agency) => {
        const resources = await listAll(store);
        const shorten = shortenIds(resources.map(({ id }) => id));
        cli.output.reply({ resources }, () => {
          if (resources.length === 0) return `No resources in ${agency}.`;
          const rows = resources.map(({ id, type, size, createdBy, createdAt, preview = "" }) => [
            shorten(id),
            type,
            formatSize(size),
            createdBy,
            formatWhen(createdAt, Date.now()),
            toOneLine(preview, 60),
          ]);
          return cli.output.formatTable(["ID", "TYPE", "SIZE", "BY", "WHEN", "PREVIEW"], rows);
        });
      }),
    );
}

interface GetFlags extends AgencyFlags {
  output?: string;
}

function addGet(group: Command, cli: Cli): void {
  group
    .command("get")
    .description("print the content of a resource, or save it")
    .argument("<id>", idHelp)
    .option("-o, --output <file>", "output file (default: stdout)")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["resource get 1f3c9a20", ""], ["resource get 1f3c9a20 -o report.pdf", ""]))
    .action((given: string, { output: to, ...flags }: GetFlags) =>
      withResources(cli, flags, async (store, agency) => {
        const id = isHash(given) ? given : await findId(store, given, agency);
        const { bytes, type } = await store.read(id);
        if (to !== undefined && to !== "-") {
          const size = await saveFile(resolve(cli.cwd, to), Readable.from([bytes]), { label: to });
          return cli.output.reply({ id, type, size, saved: to }, () => `Saved it to ${to} (${formatSize(size)}).`);
        }
        const text = decodeText(bytes);
        if (cli.output.isJson)
          return cli.output.writeJson({
            id,
            type,
            ...(text === undefined ? { base64: Buffer.from(bytes).toString("base64") } : { content: text }),
          });
        if (!cli.output.isTTY) return cli.output.writeBytes(bytes);
        if (text === undefined)
          throw fail("bad_request", `It is binary (${type}, ${formatSize(bytes.length)}). Save it with -o <file>.`);
        cli.output.writeChunk(sanitize(text));
      }),
    );
}

interface PutFlags extends AgencyFlags {
  type?: string;
}

function addPut(group: Command, cli: Cli): void {
  group
    .command("put")
    .description("store a file, and print its hash")
    .argument("<file>", "local file; - reads stdin")
    .option("--type <type>", "media type, as text/markdown")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(["resource put report.md -a @review", ""], ["git diff | thinkery resource put -", ""]),
    )
    .action((file: string, { type, ...flags }: PutFlags) =>
      withResources(cli, flags, async (store) => {
        const bytes = await readLocalFile(cli, file);
        if (bytes.length === 0) throw fail("bad_request", `“${file}” is empty.`);
        const resource = await store.create(decodeText(bytes) ?? bytes, type === undefined ? {} : { type });
        cli.output.reply(resource, () => resource.id);
      }),
    );
}

async function withResources(
  cli: Cli,
  flags: AgencyFlags,
  work: (store: Resources, agency: string) => Promise<void>,
): Promise<void> {
  const agency = getAgency(cli, flags);
  const { client } = await connect(cli);
  await work(client.resources(agency), agency).catch(async (error: unknown) => {
    throw await explainMissingAgency(client, agency, error);
  });
}

function listAll(store: Resources): Promise<Resource[]> {
  return readAllPages(async (query) => {
    const { resources, next } = await store.list(query);
    return { items: resources, next };
  });
}

async function findId(store: Resources, start: string, agency: string): Promise<string> {
  const found = findByPrefix(await listAll(store), start, ({ type, size }) => `${type}, ${formatSize(size)}`);
  if (found) return found.id;
  throw fail(
    "not_found",
    `No resource “${start}” in ${agency}. List them with \`thinkery resource ls -a @${agency}\`.`,
  );
}

/** Returns undefined if it is not a text. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
