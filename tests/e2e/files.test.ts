import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FilesHost, listPaths, openFilesHost } from "../kit/files-host.ts";

// Reading and changing an agent's files over HTTP and with the client. files-http.test.ts has ranges, headers and URLs.

let files: FilesHost;

beforeAll(async () => {
  files = await openFilesHost();
});

afterAll(() => files?.stop());

test("a file is written, read, listed, changed and deleted, each change as one version", async () => {
  const agent = await files.newAgent();
  expect(await agent.files()).toEqual({ files: [], version: 0 });
  const first = await files.request("PUT", agent, "files/docs/r%C3%A9sum%C3%A9%20(1).md", { body: "# one\n" });
  expect(first.status).toBe(201);
  const file = JSON.parse(first.body);
  expect(file).toEqual({
    path: "docs/résumé (1).md",
    kind: "text",
    size: 6,
    mediaType: "text/markdown",
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    version: 1,
    modifiedAt: expect.any(String),
  });
  expect(first.headers.etag).toBe(`"${file.hash}"`);
  expect(await agent.files()).toEqual({ files: [file], version: 1 });
  const second = await files.request("PUT", agent, "files/docs/r%C3%A9sum%C3%A9%20(1).md", { body: "# two\n" });
  expect([second.status, JSON.parse(second.body).version]).toEqual([200, 2]);
  // Writing the same content again changes nothing.
  expect(
    JSON.parse((await files.request("PUT", agent, "files/docs/r%C3%A9sum%C3%A9%20(1).md", { body: "# two\n" })).body)
      .version,
  ).toBe(2);
  expect((await agent.file("docs/résumé (1).md")).text()).toBe("# two\n");
  expect((await agent.file("docs/résumé (1).md", { version: 1 })).text()).toBe("# one\n");
  await agent.putFile("b.bin", new Uint8Array([0, 255, 10, 13]));
  expect(await listPaths(agent)).toEqual(["b.bin", "docs/résumé (1).md"]);
  expect((await agent.files({ under: "docs/" })).files).toHaveLength(1);
  expect((await files.request("DELETE", agent, "files/b.bin")).status).toBe(204);
  expect((await files.request("DELETE", agent, "files/b.bin")).status).toBe(404);
  expect(await listPaths(agent)).toEqual(["docs/résumé (1).md"]);
  const { versions } = await agent.versions();
  expect(versions.map(({ id, origin, changes }) => [id, origin, changes[0]?.kind])).toEqual([
    [4, { kind: "user", user: "owner" }, "delete"],
    [3, { kind: "user", user: "owner" }, "add"],
    [2, { kind: "user", user: "owner" }, "edit"],
    [1, { kind: "user", user: "owner" }, "add"],
  ]);
  const { events } = await files.host.client.call("listEvents", { params: { agency: "global", agent: agent.name } });
  expect(events.flatMap((event) => (event.type === "files.changed" ? event.data.version : []))).toEqual([1, 2, 3, 4]);
});

test("a conditional change applies only if the file is unchanged", async () => {
  const agent = await files.newAgent();
  const { hash } = await agent.putFile("a.txt", "one");
  const put = (path: string, body: string, headers: Record<string, string>) =>
    files.request("PUT", agent, `files/${path}`, { body, headers });
  expect((await put("a.txt", "two", { "if-match": `"${hash}"` })).status).toBe(200);
  const conflicting = await put("a.txt", "three", { "if-match": `"${hash}"` });
  const currentHash = (await agent.file("a.txt")).hash;
  expect([conflicting.status, JSON.parse(conflicting.body).error]).toEqual([
    412,
    {
      code: "precondition_failed",
      message: expect.stringContaining("has changed; read it again"),
      details: { hash: currentHash },
    },
  ]);
  // A retry after a lost response succeeds.
  expect((await put("a.txt", "two", { "if-match": `"${hash}"` })).status).toBe(200);
  expect((await put("a.txt", "three", { "if-none-match": "*" })).status).toBe(412);
  expect((await put("a.txt", "two", { "if-none-match": "*" })).status).toBe(412);
  expect((await put("b.txt", "new", { "if-none-match": "*" })).status).toBe(201);
  expect((await put("c.txt", "new", { "if-match": "*" })).status).toBe(412);
  expect((await put("a.txt", "three", { "if-match": `W/"${currentHash}"` })).status).toBe(412);
  expect((await put("a.txt", "three", { "if-match": currentHash })).status).toBe(400);
  expect((await agent.file("a.txt")).text()).toBe("two");
  await expect(agent.deleteFile("a.txt", { ifMatch: hash })).rejects.toMatchObject({
    code: "precondition_failed",
    details: { hash: currentHash },
  });
  await agent.deleteFile("a.txt", { ifMatch: currentHash });
  expect(await listPaths(agent)).toEqual(["b.txt"]);
  for (const [headers, status] of [
    [{ "content-range": "bytes 0-1/9" }, 400],
    [{ "content-encoding": "gzip" }, 415],
  ] as [Record<string, string>, number][]) {
    expect([headers, (await put("b.txt", "part", headers)).status]).toEqual([headers, status]);
  }
});

test("exactly one of many concurrent conditional writes succeeds", async () => {
  const agent = await files.newAgent();
  for (const content of ["text", new Uint8Array([0, 1])]) {
    const { hash } = await agent.putFile("a", content);
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        agent.putFile("a", typeof content === "string" ? `${index}` : Uint8Array.from([0, 2, index]), {
          ifMatch: hash,
        }),
      ),
    );
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const attempt of attempts)
      if (attempt.status === "rejected") expect(attempt.reason).toMatchObject({ code: "precondition_failed" });
  }
});

test("a folder is deleted only with `recursive`", async () => {
  const agent = await files.newAgent();
  await agent.editFiles([
    { write: "src/a.ts", content: "a" },
    { write: "src/lib/b.ts", content: "b" },
    { write: "c.ts", content: "c" },
  ]);
  for (const [method, hint] of [
    ["GET", "under=src"],
    ["DELETE", "recursive"],
  ] as const) {
    const response = await files.request(method, agent, "files/src");
    expect([method, response.status]).toEqual([method, 400]);
    expect(JSON.parse(response.body).error.message).toContain(hint);
  }
  expect((await files.request("PUT", agent, "files/src", { body: "x" })).status).toBe(409);
  expect((await files.request("PUT", agent, "files/c.ts/d.ts", { body: "x" })).status).toBe(409);
  expect((await files.request("PUT", agent, "files/C.ts", { body: "x" })).status).toBe(409);
  await agent.deleteFile("src", { recursive: true });
  expect(await listPaths(agent)).toEqual(["c.ts"]);
});

test("several edits are one version or none, and are merged with changes since their base", async () => {
  const agent = await files.newAgent();
  const image = Buffer.from([137, 80, 78, 71, 0, 1, 2]);
  const { version } = await agent.editFiles([
    { write: "list.txt", content: "one\ntwo\nthree\nfour\nfive\n" },
    { write: "p.png", base64: image.toString("base64") },
    { write: "old.txt", content: "old" },
  ]);
  expect(version).toMatchObject({
    id: 1,
    changes: [
      { path: "list.txt", kind: "add" },
      { path: "old.txt", kind: "add" },
      { path: "p.png", kind: "add" },
    ],
  });
  expect(Buffer.compare((await agent.file("p.png")).bytes, image)).toBe(0);
  // If one edit fails, none is applied.
  await expect(agent.editFiles([{ write: "x.txt", content: "x" }, { delete: "nowhere.txt" }])).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(
    agent.editFiles([
      { write: "x.txt", content: "x" },
      { write: "../y.txt", content: "y" },
    ]),
  ).rejects.toMatchObject({ code: "bad_request" });
  expect((await agent.files()).version).toBe(1);
  expect((await agent.editFiles([{ move: "old.txt", to: "new/old.txt" }])).version?.changes).toEqual([
    { path: "new/old.txt", kind: "move", from: "old.txt" },
  ]);
  expect(await agent.editFiles([{ write: "p.png", base64: image.toString("base64") }])).toEqual({ overlaps: [] });
  await agent.putFile("list.txt", "ONE\ntwo\nthree\nfour\nfive\n");
  expect(
    (await agent.editFiles([{ write: "list.txt", content: "one\ntwo\nthree\nfour\nFIVE\n" }], { base: 1 })).overlaps,
  ).toEqual([]);
  expect((await agent.file("list.txt")).text()).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
  const conflicting = await agent.editFiles([{ write: "list.txt", content: "uno\ntwo\nthree\nfour\nfive\n" }], {
    base: 1,
  });
  expect(conflicting.overlaps).toMatchObject([{ path: "list.txt", line: 1 }]);
  const text = (await agent.file("list.txt")).text();
  for (const line of ["<<<<<<<", "ONE", "uno", ">>>>>>>", "FIVE"]) expect(text).toContain(line);
  const unchanged = await files.request("POST", agent, "files", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ edits: [{ write: "p.png", base64: image.toString("base64") }] }),
  });
  expect(unchanged.status).toBe(200);
  for (const edit of [
    { write: "a.txt", content: "\ud800" },
    { write: "a.txt", base64: "???" },
    { write: "a.txt" },
    { write: "a.txt", content: "x", mode: 7 },
    { chmod: "a.txt" },
  ]) {
    const rejected = await files.request("POST", agent, "files", {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ edits: [edit] }),
    });
    expect([edit, rejected.status]).toEqual([edit, 400]);
  }
});

test("binary content is stored byte for byte", async () => {
  const agent = await files.newAgent();
  const cases: [string, Buffer, "text" | "binary"][] = [
    ["invalid.txt", Buffer.from([0x68, 0xc3, 0x28, 0xff]), "binary"],
    ["zero.txt", Buffer.from("a\0b"), "binary"],
    ["bom.txt", Buffer.from("\ufeffa\r\nb\r\n"), "text"],
    ["empty.txt", Buffer.alloc(0), "text"],
    ["surrogate.txt", Buffer.from([0xed, 0xa0, 0x80]), "binary"],
    ["large.txt", Buffer.from("x".repeat(1024 * 1024 + 1)), "binary"],
    ["five.bin", Buffer.alloc(5 * 1024 * 1024, 7), "binary"],
  ];
  for (const [path, bytes, kind] of cases) {
    const file = await agent.putFile(path, bytes);
    expect([path, file.kind, file.size]).toEqual([path, kind, bytes.length]);
    const read = await agent.file(path);
    expect([path, Buffer.compare(read.bytes, bytes), read.hash, read.kind]).toEqual([path, 0, file.hash, kind]);
  }
});

test("the read scope does not allow writes, and other users' files are not accessible", async () => {
  const agent = await files.newAgent();
  await agent.putFile("a.txt", "mine");
  const connectAs = async (user: string, ...scopes: ("read" | "chat")[]) => {
    const { token } = await files.host.client.call("createToken", { body: { name: "t", user, scopes } });
    return createClient({ url: files.host.url, token }).agent(agent.name);
  };
  const reader = await connectAs("owner", "read");
  expect((await reader.file("a.txt")).text()).toBe("mine");
  for (const attempt of [
    () => reader.putFile("a.txt", "x"),
    () => reader.deleteFile("a.txt"),
    () => reader.editFiles([{ delete: "a.txt" }]),
    () => reader.revert({ version: 1 }),
    () => reader.putArchive(new Uint8Array(22)),
    () => reader.createBranch(),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "forbidden" });
  }
  const mallory = await connectAs("mallory", "read", "chat");
  for (const attempt of [
    () => mallory.files(),
    () => mallory.file("a.txt"),
    () => mallory.putFile("a.txt", "x"),
    () => mallory.archive(),
    () => mallory.versions(),
    () => mallory.branches(),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "not_found" });
  }
  const { version } = await agent.files();
  expect(version).toBe(1);
  // A later agent of the same name starts empty.
  await agent.delete();
  const successor = await files.host.client.agents().create({ name: agent.name });
  expect(await successor.files()).toEqual({ files: [], version: 0 });
});
