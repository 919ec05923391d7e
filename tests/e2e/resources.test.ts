import { createHash } from "node:crypto";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

const at = "/agency/global/resources";
const poem = "Roses are red.\n".repeat(5000);
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
const hash = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");

const call = (tool: string, input: object) => ({ call: { tool, input } });

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      sharer: {
        exchanges: [
          {
            when: "Share it.",
            steps: [
              call("resource_create", { content: "what I found", type: "text/markdown" }),
              call("resource_read", { id: hash("what I found") }),
              { text: "{{ results.0 }}|{{ results.1 }}" },
            ],
          },
          {
            when: "Read the others.",
            steps: [
              call("resource_read", { id: hash(poem), offset: 4999 }),
              call("resource_read", { id: hash(new Uint8Array([1, 0, 2])) }),
              call("resource_read", { id: "nothing" }),
              { text: "{{ results.0 }}|{{ results.1 }}|{{ results.2 }}" },
            ],
          },
        ],
      },
    },
    config: { sandboxSlots: 0 },
  });
});

afterAll(() => testbed?.stop());

const resources = (agency?: string) => testbed.host().client.resources(agency);

function read(id: string, headers: Record<string, string> = {}, query = "") {
  const { url, token } = testbed.host();
  const credentials: Record<string, string> = query === "" ? { authorization: `Bearer ${token}` } : {};
  return fetch(`${url}${at}/${id}${query}`, { headers: { ...credentials, ...headers } });
}

async function say(message: string): Promise<string> {
  const agent = await testbed.newAgent({ model: "scripted:sharer" });
  expect((await agent.say(message)).type).toBe("agent.completed");
  return String((await agent.messages()).at(-1)?.content);
}

test("a content is stored under its hash, once, and listed with who stored it, newest first", async () => {
  const first = await resources().create(poem);
  expect(first).toMatchObject({ id: hash(poem), type: "text/plain", size: poem.length, createdBy: "owner" });
  expect(first.preview).toBe(poem.slice(0, 300));
  const binary = await resources().create(new Uint8Array([1, 0, 2]));
  expect(binary).toMatchObject({ type: "application/octet-stream", size: 3 });
  expect(binary.preview).toBeUndefined();
  expect(await resources().create(poem, { type: "text/html" })).toEqual(first);
  const { resources: page, next } = await resources().list({ limit: 1 });
  expect(page).toEqual([binary]);
  expect(await resources().list({ limit: 1, after: next })).toEqual({ resources: [first] });
  expect((await resources().read(first.id)).text()).toBe(poem);
  expect((await resources().read(binary.id)).bytes).toEqual(new Uint8Array([1, 0, 2]));
  await testbed.restartMain();
  expect((await resources().read(first.id)).text()).toBe(poem);
});

test("browsers can only download a resource, unless it is an image, and nothing in it runs", async () => {
  const page = await resources().create("<script>alert(1)</script>", { type: "text/html" });
  const image = await resources().create(png, { type: "image/png" });
  for (const [id, disposition] of [
    [page.id, "attachment"],
    [image.id, "inline"],
  ] as const) {
    const { headers, body } = await read(id);
    expect(headers.get("content-disposition")).toBe(disposition);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("sandbox");
    await body?.cancel();
  }
  const { client } = testbed.host();
  for (const [destination, status] of [
    ["script", 403],
    ["iframe", 403],
    ["document", 200],
  ] as const) {
    const { ticket } = await client.call("createTicket", { body: { path: `${at}/${image.id}` } });
    const response = await read(image.id, { "sec-fetch-dest": destination }, `?ticket=${ticket}`);
    expect([destination, response.status]).toEqual([destination, status]);
    await response.body?.cancel();
  }
});

test("what is too large, empty or malformed is refused", async () => {
  const megabytes = "x".repeat(8 * 1024 * 1024);
  expect((await resources().create(megabytes)).size).toBe(megabytes.length);
  await expect(resources().create(`${megabytes}x`)).rejects.toMatchObject({
    code: "too_large",
    message: "A resource can have at most 8 MB. Write a document instead.",
  });
  for (const body of [
    { content: "" },
    { content: "no base64!", encoding: "base64" },
    { content: "====", encoding: "base64" },
    { content: "\ud800" },
    { content: "x", type: "text" },
    { content: "x", type: "text/html\r\nset-cookie: a" },
    { content: "x", kind: "text" },
  ])
    expect([body, (await testbed.api(at, "POST", body)).status]).toEqual([body, 400]);
  expect((await testbed.api(`${at}?after=x`)).status).toBe(400);
  expect((await testbed.api(`${at}/${"A".repeat(64)}`)).status).toBe(400);
  expect((await testbed.api(`${at}/${"0".repeat(64)}`)).body.error).toEqual({
    code: "not_found",
    message: `There is no resource “${"0".repeat(64)}” in this agency.`,
  });
});

test("a resource is only found in its agency, and only by those who may enter it", async () => {
  const { client, url } = testbed.host();
  await testbed.api("/agencies", "POST", { id: "den" });
  const { id } = await resources("den").create("only here");
  await expect(resources().read(id)).rejects.toMatchObject({ code: "not_found" });
  const { token } = await client.call("createToken", { body: { name: "t", user: "mallory", scopes: ["chat"] } });
  const mallory = createClient({ url, token }).resources("den");
  await expect(mallory.read(id)).rejects.toMatchObject({ code: "not_found" });
  await expect(mallory.create("x")).rejects.toMatchObject({ code: "not_found" });
});

test("agents store and read resources, by pages if they are long", async () => {
  const text = await say("Share it.");
  expect(text).toContain(hash("what I found"));
  expect(text).toMatch(/\|what I found$/);
  const [stored] = (await resources().list({ limit: 1 })).resources;
  expect(stored).toMatchObject({ type: "text/markdown", size: 12, createdBy: expect.stringMatching(/^agent-/) });
  await resources().create(poem);
  await resources().create(new Uint8Array([1, 0, 2]));
  expect(await say("Read the others.")).toBe(
    [
      "Roses are red.\nRoses are red.\n[lines 4999–5000 of 5000]",
      "It is not text: application/octet-stream, 3 bytes.",
      "There is no resource “nothing” in this agency.",
    ].join("|"),
  );
});
