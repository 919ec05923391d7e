import http from "node:http";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { send } from "../kit/wire.ts";

// An agent's files over HTTP, as a person, a program and a browser meet them.

let house: HostProcess;
let agentCount = 0;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

/** An agent with a workspace of its own. */
async function newAgent() {
  const { name } = await house.client.agents().create({ name: `keeper-${++agentCount}` });
  return house.client.agent(name);
}

const buildAgentPath = (agent: { name: string }, rest: string) => `/agents/${agent.name}/${rest}`;

function ask(
  method: string,
  path: string,
  {
    headers = {},
    body,
    token = house.token,
  }: { headers?: Record<string, string>; body?: string | Buffer; token?: string } = {},
) {
  return send({
    port: house.port,
    method,
    path,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

const listPaths = async (agent: { files(): Promise<{ files: { path: string }[] }> }) =>
  (await agent.files()).files.map(({ path }) => path);

test("a file is written, read, listed, changed and deleted, each time as one version", async () => {
  const agent = await newAgent();
  expect(await agent.files()).toEqual({ files: [], version: 0 });
  const first = await ask("PUT", buildAgentPath(agent, "files/docs/r%C3%A9sum%C3%A9%20(1).md"), { body: "# one\n" });
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
  const second = await ask("PUT", buildAgentPath(agent, "files/docs/r%C3%A9sum%C3%A9%20(1).md"), { body: "# two\n" });
  expect([second.status, JSON.parse(second.body).version]).toEqual([200, 2]);
  // The same once more changes nothing.
  expect(
    JSON.parse(
      (await ask("PUT", buildAgentPath(agent, "files/docs/r%C3%A9sum%C3%A9%20(1).md"), { body: "# two\n" })).body,
    ).version,
  ).toBe(2);
  expect((await agent.file("docs/résumé (1).md")).text()).toBe("# two\n");
  expect((await agent.file("docs/résumé (1).md", { version: 1 })).text()).toBe("# one\n");
  await agent.putFile("b.bin", new Uint8Array([0, 255, 10, 13]));
  expect(await listPaths(agent)).toEqual(["b.bin", "docs/résumé (1).md"]);
  expect((await agent.files({ under: "docs/" })).files).toHaveLength(1);
  expect((await ask("DELETE", buildAgentPath(agent, "files/b.bin"))).status).toBe(204);
  expect((await ask("DELETE", buildAgentPath(agent, "files/b.bin"))).status).toBe(404);
  expect(await listPaths(agent)).toEqual(["docs/résumé (1).md"]);
  const { versions } = await agent.versions();
  expect(versions.map(({ id, origin, changes }) => [id, origin, changes[0]?.kind])).toEqual([
    [4, { kind: "user", user: "owner" }, "delete"],
    [3, { kind: "user", user: "owner" }, "add"],
    [2, { kind: "user", user: "owner" }, "edit"],
    [1, { kind: "user", user: "owner" }, "add"],
  ]);
  const { events } = await house.client.call("listEvents", { params: { agency: "global", agent: agent.name } });
  expect(events.flatMap((event) => (event.type === "files.changed" ? event.data.version : []))).toEqual([1, 2, 3, 4]);
});

test("whoever has a file already is told so, and a HEAD tells all but what is in it", async () => {
  const agent = await newAgent();
  const { hash, modifiedAt } = await agent.putFile("a.txt", "hello");
  const read = (headers: Record<string, string>, method = "GET") =>
    ask(method, buildAgentPath(agent, "files/a.txt"), { headers });
  for (const known of [`"${hash}"`, `W/"${hash}"`, `"x", "${hash}"`, "*"]) {
    const answer = await read({ "if-none-match": known });
    expect([known, answer.status, answer.body, answer.headers.etag]).toEqual([known, 304, "", `"${hash}"`]);
  }
  expect((await read({ "if-none-match": '"other"' })).body).toBe("hello");
  expect((await read({ "if-none-match": "other" })).status).toBe(400);
  const head = await read({}, "HEAD");
  expect([
    head.status,
    head.body,
    head.headers.etag,
    head.headers["x-thinkery-version"],
    head.headers["x-thinkery-kind"],
    head.headers["content-length"],
  ]).toEqual([200, "", `"${hash}"`, "1", "text", "5"]);
  expect((await read({ "if-none-match": `"${hash}"` }, "HEAD")).status).toBe(304);
  expect([
    (await read({ "if-match": `"${hash}"` })).body,
    (await read({ "if-match": '"other"' })).status,
    (await read({ "if-match": '"other"' }, "HEAD")).status,
  ]).toEqual(["hello", 412, 412]);
  expect(Date.parse(head.headers["last-modified"] ?? "")).toBe(Math.floor(Date.parse(modifiedAt) / 1000) * 1000);
});

test("a part of a file is read by whoever asks for one, and what was cut off is gone on with", async () => {
  const agent = await newAgent();
  const large = Buffer.alloc(3_000_000, "0123456789");
  const [{ hash }] = [
    await agent.putFile("a.txt", "0123456789"),
    await agent.putFile("b.bin", Buffer.concat([Buffer.of(0), large])),
    await agent.putFile("empty", ""),
  ];
  const part = async (range: string, path = "a.txt", more: Record<string, string> = {}) => {
    const { status, headers, body } = await ask("GET", buildAgentPath(agent, `files/${path}`), {
      headers: { range, ...more },
    });
    return [status, headers["content-range"], status === 416 ? "" : body];
  };
  expect(await part("bytes=0-3")).toEqual([206, "bytes 0-3/10", "0123"]);
  expect(await part("bytes=4-")).toEqual([206, "bytes 4-9/10", "456789"]);
  expect(await part("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
  expect(await part("bytes=8-99")).toEqual([206, "bytes 8-9/10", "89"]);
  expect(await part("bytes=-99")).toEqual([206, "bytes 0-9/10", "0123456789"]);
  for (const outside of ["bytes=10-", "bytes=-0"]) expect(await part(outside)).toEqual([416, "bytes */10", ""]);
  expect(await part("bytes=0-", "empty")).toEqual([416, "bytes */0", ""]);
  for (const other of ["bytes=3-1", "bytes=0-1,4-5", "lines=1-2", "bytes=a-b", "bytes=-"])
    expect(await part(other)).toEqual([200, undefined, "0123456789"]);
  expect(await part("bytes=0-0", "a.txt", { "if-range": `"${hash}"` })).toEqual([206, "bytes 0-0/10", "0"]);
  for (const other of ['"other"', `W/"${hash}"`, new Date().toUTCString()])
    expect(await part("bytes=0-0", "a.txt", { "if-range": other })).toEqual([200, undefined, "0123456789"]);
  expect(await part("bytes=2000001-2000005", "b.bin")).toEqual([206, "bytes 2000001-2000005/3000001", "01234"]);
  const [, , rest] = await part("bytes=1-", "b.bin");
  expect(Buffer.compare(Buffer.from(rest as string), large)).toBe(0);
  expect((await ask("GET", buildAgentPath(agent, "files/b.bin"))).headers).toMatchObject({
    "content-length": "3000001",
    "accept-ranges": "bytes",
  });
});

test("a change is made only if the file is what its sender believes", async () => {
  const agent = await newAgent();
  const { hash } = await agent.putFile("a.txt", "one");
  const put = (path: string, body: string, headers: Record<string, string>) =>
    ask("PUT", buildAgentPath(agent, `files/${path}`), { body, headers });
  expect((await put("a.txt", "two", { "if-match": `"${hash}"` })).status).toBe(200);
  const late = await put("a.txt", "three", { "if-match": `"${hash}"` });
  const now = (await agent.file("a.txt")).hash;
  expect([late.status, JSON.parse(late.body).error]).toEqual([
    412,
    { code: "precondition_failed", message: expect.stringContaining("has changed meanwhile"), details: { hash: now } },
  ]);
  // Whoever asks again because the answer got lost has done it.
  expect((await put("a.txt", "two", { "if-match": `"${hash}"` })).status).toBe(200);
  expect((await put("a.txt", "three", { "if-none-match": "*" })).status).toBe(412);
  expect((await put("a.txt", "two", { "if-none-match": "*" })).status).toBe(412);
  expect((await put("b.txt", "new", { "if-none-match": "*" })).status).toBe(201);
  expect((await put("c.txt", "new", { "if-match": "*" })).status).toBe(412);
  expect((await put("a.txt", "three", { "if-match": `W/"${now}"` })).status).toBe(412);
  expect((await put("a.txt", "three", { "if-match": now })).status).toBe(400);
  expect((await agent.file("a.txt")).text()).toBe("two");
  await expect(agent.deleteFile("a.txt", { ifMatch: hash })).rejects.toMatchObject({
    code: "precondition_failed",
    details: { hash: now },
  });
  await agent.deleteFile("a.txt", { ifMatch: now });
  expect(await listPaths(agent)).toEqual(["b.txt"]);
  for (const [headers, status] of [
    [{ "content-range": "bytes 0-1/9" }, 400],
    [{ "content-encoding": "gzip" }, 415],
  ] as [Record<string, string>, number][]) {
    expect([headers, (await put("b.txt", "part", headers)).status]).toEqual([headers, status]);
  }
});

test("of many who change a file at once, each believing that it is what it was, one does", async () => {
  const agent = await newAgent();
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

test("a folder is deleted only by who says so", async () => {
  const agent = await newAgent();
  await agent.editFiles([
    { write: "src/a.ts", content: "a" },
    { write: "src/lib/b.ts", content: "b" },
    { write: "c.ts", content: "c" },
  ]);
  for (const [method, words] of [
    ["GET", "under=src"],
    ["DELETE", "recursive"],
  ] as const) {
    const answer = await ask(method, buildAgentPath(agent, "files/src"));
    expect([method, answer.status]).toEqual([method, 400]);
    expect(JSON.parse(answer.body).error.message).toContain(words);
  }
  expect((await ask("PUT", buildAgentPath(agent, "files/src"), { body: "x" })).status).toBe(409);
  expect((await ask("PUT", buildAgentPath(agent, "files/c.ts/d.ts"), { body: "x" })).status).toBe(409);
  expect((await ask("PUT", buildAgentPath(agent, "files/C.ts"), { body: "x" })).status).toBe(409);
  await agent.deleteFile("src", { recursive: true });
  expect(await listPaths(agent)).toEqual(["c.ts"]);
});

test("several edits are one version or none, and what was changed since their base is merged", async () => {
  const agent = await newAgent();
  const picture = Buffer.from([137, 80, 78, 71, 0, 1, 2]);
  const { version } = await agent.editFiles([
    { write: "list.txt", content: "one\ntwo\nthree\nfour\nfive\n" },
    { write: "p.png", base64: picture.toString("base64") },
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
  expect(Buffer.compare((await agent.file("p.png")).bytes, picture)).toBe(0);
  // One that cannot be made keeps the others from being made.
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
  expect(await agent.editFiles([{ write: "p.png", base64: picture.toString("base64") }])).toEqual({ overlaps: [] });
  await agent.putFile("list.txt", "ONE\ntwo\nthree\nfour\nfive\n");
  expect(
    (await agent.editFiles([{ write: "list.txt", content: "one\ntwo\nthree\nfour\nFIVE\n" }], { base: 1 })).overlaps,
  ).toEqual([]);
  expect((await agent.file("list.txt")).text()).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
  const both = await agent.editFiles([{ write: "list.txt", content: "uno\ntwo\nthree\nfour\nfive\n" }], { base: 1 });
  expect(both.overlaps).toMatchObject([{ path: "list.txt", line: 1 }]);
  const text = (await agent.file("list.txt")).text();
  for (const line of ["<<<<<<<", "ONE", "uno", ">>>>>>>", "FIVE"]) expect(text).toContain(line);
  const nothing = await ask("POST", buildAgentPath(agent, "files"), {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ edits: [{ write: "p.png", base64: picture.toString("base64") }] }),
  });
  expect(nothing.status).toBe(200);
  for (const edit of [
    { write: "a.txt", content: "\ud800" },
    { write: "a.txt", base64: "???" },
    { write: "a.txt" },
    { write: "a.txt", content: "x", mode: 7 },
    { chmod: "a.txt" },
  ]) {
    const refused = await ask("POST", buildAgentPath(agent, "files"), {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ edits: [edit] }),
    });
    expect([edit, refused.status]).toEqual([edit, 400]);
  }
});

test("what is not text is kept byte by byte", async () => {
  const agent = await newAgent();
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

test("a browser shows what cannot run, and saves all else", async () => {
  const agent = await newAgent();
  const all: [string, string, string][] = [
    ["a.txt", "text/plain; charset=utf-8", "inline"],
    ["noending", "text/plain; charset=utf-8", "inline"],
    ["a.png", "image/png; charset=utf-8", "inline"],
    ["a.html", "text/html; charset=utf-8", "attachment"],
    ["a.svg", "image/svg+xml; charset=utf-8", "attachment"],
    ["a.js", "text/javascript; charset=utf-8", "attachment"],
    ["a.xml", "application/xml; charset=utf-8", "attachment"],
    ["a.css", "text/css; charset=utf-8", "attachment"],
  ];
  for (const [path, type, kind] of all) {
    await agent.putFile(path, "<script>alert(1)</script>");
    const { headers } = await ask("GET", buildAgentPath(agent, `files/${path}`));
    expect(headers).toMatchObject({
      "content-type": type,
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/);
    expect(headers["content-disposition"]).toBe(`${kind}; filename*=UTF-8''${path}`);
  }
  expect((await ask("GET", buildAgentPath(agent, "files/a.txt?download=1"))).headers["content-disposition"]).toMatch(
    /^attachment/,
  );
  await agent.putFile("“quoted” ';\u00e9.txt", "x");
  const odd = await ask("GET", buildAgentPath(agent, `files/${encodeURIComponent("“quoted” ';\u00e9.txt")}`));
  expect(odd.headers["content-disposition"]).toBe(
    "inline; filename*=UTF-8''%E2%80%9Cquoted%E2%80%9D%20%27%3B%C3%A9.txt",
  );

  const { code } = await house.client.call("createLoginCode");
  const login = await send({
    port: house.port,
    method: "POST",
    path: "/login",
    headers: { "content-type": "application/json", origin: house.url },
    body: JSON.stringify({ code }),
  });
  const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
  const asPage = (use: string, rest = "files/a.js") =>
    send({
      port: house.port,
      path: buildAgentPath(agent, rest),
      headers: { cookie, "sec-fetch-site": "same-origin", "sec-fetch-dest": use },
    });
  for (const use of ["document", "empty", "image"]) expect([use, (await asPage(use)).status]).toEqual([use, 200]);
  for (const use of ["script", "style", "worker", "serviceworker", "iframe", "object", "embed", "manifest"])
    expect([use, (await asPage(use)).status]).toEqual([use, 403]);
  expect((await asPage("iframe", "archive")).status).toBe(403);
  // A blob is no other thing: without the check this would be a 404.
  expect((await asPage("script", `blobs/${"0".repeat(64)}`)).status).toBe(403);
  expect((await asPage("image", `blobs/${"0".repeat(64)}`)).status).toBe(404);
});

test("whatever an address says, the file lies in the workspace or nowhere", async () => {
  const agent = await newAgent();
  const refused: [string, RegExp][] = [
    ["files/", /empty/],
    ["files/a//b", /empty name/],
    ["files//etc/passwd", /outside/],
    ["files/a/", /empty name/],
    ["files/a%00b", /NUL/],
    ["files/a%5Cb", /backslashes/],
    ["files/%2Fetc%2Fpasswd", /outside/],
    ["files/a%2F..%2F..%2Fb", /not a name/],
    ["files/%252e%252e%2F..%2Fx", /not a name/],
    ["files/a/..%2e/x", /dot/],
    ["files/%zz", /percent sign/],
    ["files/%c0%ae%c0%ae", /percent sign/],
    ["files/con", /device/],
    ["files/a%20", /space/],
    ["files/a.", /dot/],
    [`files/${"a".repeat(256)}`, /longer/],
    [`files/${"a/".repeat(40)}b`, /deep/],
    ["files/a%0Ab", /cannot be seen/],
    ["files/%E2%80%AEx", /cannot be seen/],
    ["files/%ED%A0%80", /percent sign/],
  ];
  for (const [rest, why] of refused) {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await ask(method, buildAgentPath(agent, rest), method === "PUT" ? { body: "x" } : {});
      expect([rest, method, answer.status]).toEqual([rest, method, 400]);
      expect(JSON.parse(answer.body).error.message).toMatch(why);
    }
  }
  // A parser of addresses takes these for the way up, before anybody can look: they lead to other routes, or to none.
  for (const rest of ["files/../x", "files/%2e%2e/x", "files/a/../../../x", "files\\..\\x"]) {
    expect([rest, (await ask("PUT", buildAgentPath(agent, rest), { body: "x" })).status]).toEqual([
      rest,
      expect.toSatisfy((status: number) => status === 404 || status === 405),
    ]);
  }
  expect(await listPaths(agent)).toEqual([]);
  // Decoded once, and written in one way.
  expect(JSON.parse((await ask("PUT", buildAgentPath(agent, "files/%252e%252e%252Fx"), { body: "x" })).body).path).toBe(
    "%2e%2e%2Fx",
  );
  expect(JSON.parse((await ask("PUT", buildAgentPath(agent, "files/work/e%CC%81.txt"), { body: "x" })).body).path).toBe(
    "work/é.txt",
  );
  expect((await ask("GET", buildAgentPath(agent, "files/work/%C3%A9.txt"))).body).toBe("x");
});

test("an upload that is too large is refused before it is read", async () => {
  const agent = await newAgent();
  const path = buildAgentPath(agent, "files/large.bin");
  const open = (headers: http.OutgoingHttpHeaders, target = path) =>
    http.request({
      host: "127.0.0.1",
      port: house.port,
      method: "PUT",
      path: target,
      headers: { authorization: `Bearer ${house.token}`, ...headers },
    });
  const answerOf = (request: http.ClientRequest) =>
    new Promise<number>((resolve, reject) => {
      request.on("response", (response) => resolve(response.statusCode ?? 0));
      request.on("error", reject);
    });
  for (const target of [path, buildAgentPath(agent, "archive")]) {
    const announced = open({ "content-length": 200_000_000 }, target);
    const answered = answerOf(announced);
    announced.flushHeaders();
    expect(await answered).toBe(413);
    announced.on("error", () => {});
    announced.destroy();
  }

  const unannounced = open({ "transfer-encoding": "chunked" });
  let over = false;
  const status = answerOf(unannounced)
    .catch(() => 413)
    .finally(() => (over = true));
  const megabyte = Buffer.alloc(1024 * 1024, 1);
  let sent = 0;
  while (!over && sent < 200) {
    sent++;
    await new Promise<void>((resolve) =>
      unannounced.write(megabyte)
        ? setImmediate(resolve)
        : void Promise.race([new Promise((drained) => unannounced.once("drain", drained)), status]).then(() =>
            resolve(),
          ),
    );
  }
  expect(await status).toBe(413);
  unannounced.on("error", () => {});
  unannounced.destroy();
  expect(sent).toBeLessThan(120);
  expect(await listPaths(agent)).toEqual([]);
  expect((await house.client.call("health")).restarts).toBe(0);
});

test("to read is not to write, and nobody else's files are anybody's", async () => {
  const agent = await newAgent();
  await agent.putFile("a.txt", "mine");
  const as = async (user: string, ...scopes: ("read" | "chat")[]) => {
    const { token } = await house.client.call("createToken", { body: { name: "t", user, scopes } });
    return createClient({ url: house.url, token }).agent(agent.name);
  };
  const reader = await as("owner", "read");
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
  const mallory = await as("mallory", "read", "chat");
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
  // An agent of the same name that comes later has none of it.
  await agent.delete();
  const later = await house.client.agents().create({ name: agent.name });
  expect(await later.files()).toEqual({ files: [], version: 0 });
});
