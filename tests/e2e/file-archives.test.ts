import { buffer } from "node:stream/consumers";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { unzipSync, zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { send } from "../kit/wire.ts";

// Downloading and uploading a workspace as a zip.

let host: TestHost;
let agentCount = 0;

beforeAll(async () => {
  host = await startHost({ config: { workspace: { maxFileMb: 4, maxTotalMb: 12, maxTextMb: 1 } } });
});

afterAll(() => host?.stop());

function newAgent() {
  return host.agent(`packer-${++agentCount}`);
}

type Agent = Awaited<ReturnType<typeof newAgent>>;

const getPort = () => Number(new URL(host.url).port);
const bytes = (text: string) => new TextEncoder().encode(text);
const readArchive = async (agent: Agent, query = {}) => unzipSync(await buffer((await agent.archive(query)) as never));
const listPaths = async (agent: Agent) => (await agent.files()).files.map(({ path }) => path);
const put = (agent: Agent, body: Buffer | string, query = "") =>
  send({
    port: getPort(),
    method: "PUT",
    path: `/agents/${agent.name}/archive${query}`,
    headers: { authorization: `Bearer ${host.token}` },
    body,
  });

test("files are downloaded as a zip: all, of a folder, of a branch or of a version", async () => {
  const agent = await newAgent();
  expect(await readArchive(agent)).toEqual({});
  const random = createRandom("archive");
  const large = Buffer.from(Array.from({ length: 3_000_000 }, () => random.below(256)));
  await agent.editFiles([
    { write: "a.txt", content: "one" },
    { write: "docs/résumé.md", content: "# é" },
    { write: "docs/empty.txt", content: "" },
  ]);
  await agent.putFile("large.bin", large);
  await agent.createBranch({ name: "try" });
  await agent.putFile("a.txt", "tried", { branch: "try" });
  await agent.putFile("a.txt", "two");
  const all = await readArchive(agent);
  expect(Object.keys(all)).toEqual(["a.txt", "docs/empty.txt", "docs/résumé.md", "large.bin"]);
  expect(Buffer.compare(all["large.bin"] as Uint8Array, large)).toBe(0);
  expect(Buffer.from(all["docs/résumé.md"] as Uint8Array).toString()).toBe("# é");
  expect(Object.keys(await readArchive(agent, { under: "docs/" }))).toEqual(["docs/empty.txt", "docs/résumé.md"]);
  const readText = async (query: object) =>
    Buffer.from((await readArchive(agent, query))["a.txt"] as Uint8Array).toString();
  expect([await readText({}), await readText({ version: 1 }), await readText({ branch: "try" })]).toEqual([
    "two",
    "one",
    "tried",
  ]);
  for (const query of [{ version: 99 }, { branch: "nowhere" }, { under: "nowhere" }])
    await expect(agent.archive(query)).rejects.toMatchObject({ code: "not_found" });
  await expect(agent.archive({ under: "../x" })).rejects.toMatchObject({ code: "bad_request" });
  const { headers } = await send({
    port: getPort(),
    path: `/agents/${agent.name}/archive`,
    headers: { authorization: `Bearer ${host.token}` },
  });
  expect(headers).toMatchObject({
    "content-type": "application/zip",
    "content-disposition": `attachment; filename*=UTF-8''${agent.name}.zip`,
    "x-content-type-options": "nosniff",
  });
  const head = await send({
    port: getPort(),
    method: "HEAD",
    path: `/agents/${agent.name}/archive`,
    headers: { authorization: `Bearer ${host.token}` },
  });
  expect([head.status, head.body]).toEqual([200, ""]);
});

test("canceled downloads do not affect the host", async () => {
  const agent = await newAgent();
  for (const name of ["a", "b", "c"])
    await agent.putFile(`${name}.bin`, new Uint8Array(3 * 1024 * 1024).fill(name.charCodeAt(0)));
  for (let round = 0; round < 5; round++) {
    const reader = (await agent.archive()).getReader();
    await reader.read();
    await reader.cancel();
  }
  expect(Object.keys(await readArchive(agent))).toEqual(["a.bin", "b.bin", "c.bin"]);
  expect((await host.client.call("health")).restarts).toBe(0);
});

test("a zip is uploaded as one version, and with replace all other files are deleted", async () => {
  const agent = await newAgent();
  await agent.editFiles([
    { write: "keep.txt", content: "kept" },
    { write: "src/old.ts", content: "old" },
    { write: "thing", content: "a file" },
  ]);
  const zip = zipSync({
    "src/": bytes(""),
    "src/new.ts": bytes("new"),
    "p.png": Uint8Array.from([137, 80, 0, 255]),
    "keep.txt": bytes("kept"),
  });
  const { version, overlaps } = await agent.putArchive(zip);
  expect([version?.id, version?.changes, overlaps]).toEqual([
    2,
    [
      { path: "p.png", kind: "add" },
      { path: "src/new.ts", kind: "add" },
    ],
    [],
  ]);
  expect(await listPaths(agent)).toEqual(["keep.txt", "p.png", "src/new.ts", "src/old.ts", "thing"]);
  expect((await agent.file("p.png")).kind).toBe("binary");
  expect(await agent.putArchive(zip)).toEqual({ overlaps: [] });
  // A folder can take the place of a file that is deleted.
  const other = zipSync({ "thing/inside.txt": bytes("x"), "keep.txt": bytes("kept") });
  await expect(agent.putArchive(other)).rejects.toMatchObject({ code: "conflict" });
  const replaced = await agent.putArchive(other, { replace: true });
  expect(replaced.version?.changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "delete p.png",
    "delete src/new.ts",
    "delete src/old.ts",
    "delete thing",
    "add thing/inside.txt",
  ]);
  expect(await listPaths(agent)).toEqual(["keep.txt", "thing/inside.txt"]);
  await agent.revert({ version: 3 });
  expect(await listPaths(agent)).toEqual(["keep.txt", "p.png", "src/new.ts", "src/old.ts", "thing"]);
  await agent.createBranch({ name: "try" });
  await agent.putArchive(zipSync({ "only.txt": bytes("x") }), { branch: "try", replace: true });
  expect([await listPaths(agent), (await agent.files({ branch: "try" })).files.map(({ path }) => path)]).toEqual([
    ["keep.txt", "p.png", "src/new.ts", "src/old.ts", "thing"],
    ["only.txt"],
  ]);
});

test("a download of thousands of files can be uploaded unchanged", async () => {
  const [one, other] = [await newAgent(), await newAgent()];
  const files = Object.fromEntries(
    Array.from({ length: 2000 }, (_, index) => [
      `src/${index % 40}/file-${index}.ts`,
      bytes(`export const n = ${index};\n`),
    ]),
  );
  const { version } = await one.putArchive(zipSync(files, { level: 1 }));
  expect([version?.changes.length, version?.more]).toEqual([100, 1900]);
  await other.putArchive(await buffer((await one.archive()) as never));
  const listHashes = async (agent: Agent) => {
    const all: string[] = [];
    for await (const { path, hash } of agent.allFiles()) all.push(`${hash} ${path}`);
    return all;
  };
  const [first, second] = [await listHashes(one), await listHashes(other)];
  expect(first).toHaveLength(2000);
  expect(second).toEqual(first);
});

test("files of any size are extracted unchanged", async () => {
  const agent = await newAgent();
  const random = createRandom("sizes");
  const words = Array.from({ length: 500 }, () => random.text(1 + random.below(9), "abcdefghijklm"));
  let text = "";
  while (text.length < 400_000) text += `${random.pick(words)} `;
  // Sizes at which a doubling buffer is just full, and random ones.
  const sizes = [
    0,
    1,
    16_383,
    16_384,
    16_385,
    32_768,
    65_536,
    65_537,
    100_000,
    131_072,
    262_144,
    400_000,
    ...Array.from({ length: 8 }, () => random.below(400_000)),
  ];
  // In parts, because the text limit is small here.
  for (const part of [sizes.slice(0, 10), sizes.slice(10, 12), ...sizes.slice(12).map((size) => [size])]) {
    const files = Object.fromEntries(part.map((size) => [`f${size}.txt`, bytes(text.slice(0, size))]));
    await agent.putArchive(zipSync(files), { replace: true });
    expect(
      Object.entries(await readArchive(agent)).map(([path, data]) => [
        path,
        data.length,
        Buffer.compare(data, files[path] as Uint8Array),
      ]),
    ).toEqual(
      Object.entries(files)
        .map(([path, data]) => [path, data.length, 0])
        .sort(),
    );
  }
});

test.each<[string, () => Uint8Array, number, RegExp]>([
  [
    "with “..” in a path",
    () => zipSync({ "good.txt": bytes("x"), "../../evil.txt": bytes("x") }),
    400,
    /“\.\.” is not a name/,
  ],
  ["with an absolute path", () => zipSync({ "good.txt": bytes("x"), "/etc/cron.d/evil": bytes("x") }), 400, /outside/],
  ["with backslashes", () => zipSync({ "..\\evil.txt": bytes("x") }), 400, /backslashes/],
  [
    "with names that differ only in case",
    () => zipSync({ "a.txt": bytes("x"), "A.txt": bytes("x") }),
    409,
    /only in case/,
  ],
  [
    "with a file that is also a folder",
    () => zipSync({ a: bytes("x"), "a/b": bytes("x") }),
    409,
    /is a f(?:ile|older)/,
  ],
  [
    "that is a bomb of one file",
    () => zipSync({ "bomb.bin": new Uint8Array(4 * 1024 * 1024 + 1) }),
    413,
    /“bomb.bin” is too large/,
  ],
  [
    "that is a bomb of many files",
    () =>
      zipSync(
        Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`${index}.bin`, new Uint8Array(4 * 1024 * 1024)])),
        { level: 1 },
      ),
    413,
    /too large/,
  ],
  [
    "that is a bomb of texts",
    () =>
      zipSync(
        Object.fromEntries(
          Array.from({ length: 3 }, (_, index) => [`${index}.txt`, new Uint8Array(500 * 1024).fill(97)]),
        ),
        { level: 1 },
      ),
    413,
    /text files/,
  ],
  ["that is not a zip", () => bytes("hello"), 400, /end record is missing/],
  ["that is empty", () => new Uint8Array(), 400, /end record is missing/],
])("a zip %s is rejected, and nothing is written", async (_, zip, status, message) => {
  const agent = await newAgent();
  const response = await put(agent, Buffer.from(zip()));
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body).error.message).toMatch(message);
  expect(await agent.files()).toEqual({ files: [], version: 0 });
});
