import { fail, type NewResource, type PageQuery, type Resource } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { z } from "zod";
import { Resources } from "../agency/resources.ts";
import type { BlobPage, BlobSource } from "../store/blobs/blob-page.ts";
import { computeHash } from "../store/blobs/blobs.ts";
import type { AgencyContext } from "./agency-feature.ts";
import { type Transfer, toTransfer } from "./transfer.ts";

const maxResourceMb = 8;
const maxPreviewChars = 300;
/** A character has at most 4. */
const maxPreviewBytes = 4 * maxPreviewChars;

const base64Schema = z.base64();

/** Large contents that the members of an agency share, by hash. */
export class AgencyResources implements BlobSource {
  readonly api: ResourcesApi;
  readonly #context: AgencyContext;
  readonly #rows: Resources;

  constructor(context: AgencyContext) {
    this.#context = context;
    this.#rows = new Resources(context.storage.sql);
    this.api = new ResourcesApi(async () => {
      await context.open();
      return this;
    });
  }

  /** Stores a text, and returns its hash. The same text again is the same resource. */
  async store(text: string, createdBy: string): Promise<string> {
    return (await this.add(new TextEncoder().encode(text), "text/plain", createdBy)).id;
  }

  async add(bytes: Uint8Array, type: string, createdBy: string): Promise<Resource> {
    const { blobs, disk } = this.#context;
    const size = bytes.byteLength;
    if (size === 0) throw fail("bad_request", "A resource cannot be empty.");
    if (size > maxResourceMb * 1024 * 1024)
      throw fail("too_large", `A resource can have at most ${maxResourceMb} MB. Write a document instead.`);
    const existing = this.#rows.find(await computeHash(bytes));
    if (existing) return existing;
    this.#rows.checkRoom(size);
    await disk.refresh();
    const id = await blobs.put(bytes);
    const preview = createPreview(bytes);
    return this.#rows.add({ id, size, type, createdBy, ...(preview ? { preview } : {}) }, Date.now());
  }

  async read(id: string): Promise<{ resource: Resource; bytes: Uint8Array }> {
    const resource = this.#rows.get(id);
    const bytes = await this.#context.blobs.get(id);
    if (!bytes) throw fail("unavailable", "The content of this resource is missing from the blob store.");
    return { resource, bytes };
  }

  list(page: PageQuery): { resources: Resource[]; next?: string } {
    return this.#rows.list(page);
  }

  listBlobs(after: number): BlobPage {
    return this.#rows.listBlobs(after);
  }
}

/** The resources of an agency, for users' requests and calls of agents. */
export class ResourcesApi extends RpcTarget {
  readonly #open: () => Promise<AgencyResources>;

  constructor(open: () => Promise<AgencyResources>) {
    super();
    this.#open = open;
  }

  async create({ content, encoding, type }: NewResource, createdBy: string): Promise<Resource> {
    const resources = await this.#open();
    if (encoding === "text") return resources.add(encodeText(content), type ?? "text/plain", createdBy);
    if (!base64Schema.safeParse(content).success) throw fail("bad_request", "The content is not valid base64.");
    return resources.add(Buffer.from(content, "base64"), type ?? "application/octet-stream", createdBy);
  }

  async read(id: string): Promise<{ resource: Resource; content: Transfer }> {
    const { resource, bytes } = await (await this.#open()).read(id);
    return { resource, content: toTransfer(bytes) };
  }

  async list(page: PageQuery): Promise<{ resources: Resource[]; next?: string }> {
    return (await this.#open()).list(page);
  }
}

/** Rejects lone surrogates: the same bytes could not be read back. */
function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return new TextEncoder().encode(text);
  throw fail("bad_request", "The content is not well-formed text. Send it as base64.");
}

/** Returns the beginning of a text, or undefined if the bytes are none. */
function createPreview(bytes: Uint8Array): string | undefined {
  const start = bytes.subarray(0, maxPreviewBytes);
  if (start.includes(0)) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(start, { stream: true });
    return text.slice(0, maxPreviewChars).replace(/[\ud800-\udbff]$/, "");
  } catch {
    return undefined;
  }
}
