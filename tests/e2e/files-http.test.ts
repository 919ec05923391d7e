import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildAgentPath, type FilesHost, listPaths, openFilesHost } from "../kit/files-host.ts";
import { send } from "../kit/wire.ts";

// The HTTP semantics of file requests: ETags, ranges, headers for browsers, paths in URLs, and upload limits.

let files: FilesHost;

beforeAll(async () => {
  files = await openFilesHost();
});

afterAll(() => files?.stop());

test("a GET with a known ETag returns 304, and a HEAD returns the headers without the content", async () => {
  const agent = await files.newAgent();
  const { hash, modifiedAt } = await agent.putFile("a.txt", "hello");
  const read = (headers: Record<string, string>, method = "GET") =>
    files.request(method, agent, "files/a.txt", { headers });
  for (const known of [`"${hash}"`, `W/"${hash}"`, `"x", "${hash}"`, "*"]) {
    const response = await read({ "if-none-match": known });
    expect([known, response.status, response.body, response.headers.etag]).toEqual([known, 304, "", `"${hash}"`]);
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

test("range requests return parts of a file, and `If-Range` resumes a download", async () => {
  const agent = await files.newAgent();
  const large = Buffer.alloc(3_000_000, "0123456789");
  const [{ hash }] = [
    await agent.putFile("a.txt", "0123456789"),
    await agent.putFile("b.bin", Buffer.concat([Buffer.of(0), large])),
    await agent.putFile("empty", ""),
  ];
  const readRange = async (range: string, path = "a.txt", otherHeaders: Record<string, string> = {}) => {
    const { status, headers, body } = await files.request("GET", agent, `files/${path}`, {
      headers: { range, ...otherHeaders },
    });
    return [status, headers["content-range"], status === 416 ? "" : body];
  };
  expect(await readRange("bytes=0-3")).toEqual([206, "bytes 0-3/10", "0123"]);
  expect(await readRange("bytes=4-")).toEqual([206, "bytes 4-9/10", "456789"]);
  expect(await readRange("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
  expect(await readRange("bytes=8-99")).toEqual([206, "bytes 8-9/10", "89"]);
  expect(await readRange("bytes=-99")).toEqual([206, "bytes 0-9/10", "0123456789"]);
  for (const outside of ["bytes=10-", "bytes=-0"]) expect(await readRange(outside)).toEqual([416, "bytes */10", ""]);
  expect(await readRange("bytes=0-", "empty")).toEqual([416, "bytes */0", ""]);
  for (const other of ["bytes=3-1", "bytes=0-1,4-5", "lines=1-2", "bytes=a-b", "bytes=-"])
    expect(await readRange(other)).toEqual([200, undefined, "0123456789"]);
  expect(await readRange("bytes=0-0", "a.txt", { "if-range": `"${hash}"` })).toEqual([206, "bytes 0-0/10", "0"]);
  for (const other of ['"other"', `W/"${hash}"`, new Date().toUTCString()])
    expect(await readRange("bytes=0-0", "a.txt", { "if-range": other })).toEqual([200, undefined, "0123456789"]);
  expect(await readRange("bytes=2000001-2000005", "b.bin")).toEqual([206, "bytes 2000001-2000005/3000001", "01234"]);
  const [, , rest] = await readRange("bytes=1-", "b.bin");
  expect(Buffer.compare(Buffer.from(rest as string), large)).toBe(0);
  expect((await files.request("GET", agent, "files/b.bin")).headers).toMatchObject({
    "content-length": "3000001",
    "accept-ranges": "bytes",
  });
});

test("a browser displays files that cannot run scripts, and downloads all others", async () => {
  const agent = await files.newAgent();
  const cases: [string, string, string][] = [
    ["a.txt", "text/plain; charset=utf-8", "inline"],
    ["noending", "text/plain; charset=utf-8", "inline"],
    ["a.png", "image/png; charset=utf-8", "inline"],
    ["a.html", "text/html; charset=utf-8", "attachment"],
    ["a.svg", "image/svg+xml; charset=utf-8", "attachment"],
    ["a.js", "text/javascript; charset=utf-8", "attachment"],
    ["a.xml", "application/xml; charset=utf-8", "attachment"],
    ["a.css", "text/css; charset=utf-8", "attachment"],
  ];
  for (const [path, type, disposition] of cases) {
    await agent.putFile(path, "<script>alert(1)</script>");
    const { headers } = await files.request("GET", agent, `files/${path}`);
    expect(headers).toMatchObject({
      "content-type": type,
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/);
    expect(headers["content-disposition"]).toBe(`${disposition}; filename*=UTF-8''${path}`);
  }
  expect((await files.request("GET", agent, "files/a.txt?download=1")).headers["content-disposition"]).toMatch(
    /^attachment/,
  );
  await agent.putFile("“quoted” ';\u00e9.txt", "x");
  const quoted = await files.request("GET", agent, `files/${encodeURIComponent("“quoted” ';\u00e9.txt")}`);
  expect(quoted.headers["content-disposition"]).toBe(
    "inline; filename*=UTF-8''%E2%80%9Cquoted%E2%80%9D%20%27%3B%C3%A9.txt",
  );

  const { code } = await files.host.client.call("createLoginCode");
  const login = await send({
    port: files.host.port,
    method: "POST",
    path: "/login",
    headers: { "content-type": "application/json", origin: files.host.url },
    body: JSON.stringify({ code }),
  });
  const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
  const { pageSecret } = JSON.parse(login.body) as { pageSecret: string };
  const requestAsPage = (destination: string, rest = "files/a.js") =>
    send({
      port: files.host.port,
      path: buildAgentPath(agent, rest),
      headers: {
        cookie,
        "x-thinkery-page": pageSecret,
        "sec-fetch-site": "same-origin",
        "sec-fetch-dest": destination,
      },
    });
  for (const destination of ["document", "empty", "image"])
    expect([destination, (await requestAsPage(destination)).status]).toEqual([destination, 200]);
  for (const destination of ["script", "style", "worker", "serviceworker", "iframe", "object", "embed", "manifest"])
    expect([destination, (await requestAsPage(destination)).status]).toEqual([destination, 403]);
  expect((await requestAsPage("iframe", "archive")).status).toBe(403);
  // Blobs have the same check; without it this would be a 404.
  expect((await requestAsPage("script", `blobs/${"0".repeat(64)}`)).status).toBe(403);
  expect((await requestAsPage("image", `blobs/${"0".repeat(64)}`)).status).toBe(404);
});

test("no URL reaches a file outside the workspace", async () => {
  const agent = await files.newAgent();
  const invalid: [string, RegExp][] = [
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
    ["files/%zz", /malformed percent-encoding/],
    ["files/%c0%ae%c0%ae", /malformed percent-encoding/],
    ["files/con", /device/],
    ["files/a%20", /space/],
    ["files/a.", /dot/],
    [`files/${"a".repeat(256)}`, /more than 255 bytes/],
    [`files/${"a/".repeat(40)}b`, /deep/],
    ["files/a%0Ab", /invisible character/],
    ["files/%E2%80%AEx", /invisible character/],
    ["files/%ED%A0%80", /malformed percent-encoding/],
  ];
  for (const [rest, message] of invalid) {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await files.request(method, agent, rest, method === "PUT" ? { body: "x" } : {});
      expect([rest, method, response.status]).toEqual([rest, method, 400]);
      expect(JSON.parse(response.body).error.message).toMatch(message);
    }
  }
  // URL parsers resolve these before the host sees them, so they match other routes or none.
  for (const rest of ["files/../x", "files/%2e%2e/x", "files/a/../../../x", "files\\..\\x"]) {
    expect([rest, (await files.request("PUT", agent, rest, { body: "x" })).status]).toEqual([
      rest,
      expect.toSatisfy((status: number) => status === 404 || status === 405),
    ]);
  }
  expect(await listPaths(agent)).toEqual([]);
  // Paths are decoded once and normalized.
  expect(JSON.parse((await files.request("PUT", agent, "files/%252e%252e%252Fx", { body: "x" })).body).path).toBe(
    "%2e%2e%2Fx",
  );
  expect(JSON.parse((await files.request("PUT", agent, "files/work/e%CC%81.txt", { body: "x" })).body).path).toBe(
    "work/é.txt",
  );
  expect((await files.request("GET", agent, "files/work/%C3%A9.txt")).body).toBe("x");
});

test("an upload that is too large is rejected before it is read", async () => {
  const agent = await files.newAgent();
  const path = buildAgentPath(agent, "files/large.bin");
  const open = (headers: http.OutgoingHttpHeaders, target = path) =>
    http.request({
      host: "127.0.0.1",
      port: files.host.port,
      method: "PUT",
      path: target,
      headers: { authorization: `Bearer ${files.host.token}`, ...headers },
    });
  const waitForStatus = (request: http.ClientRequest) =>
    new Promise<number>((resolve, reject) => {
      request.on("response", (response) => resolve(response.statusCode ?? 0));
      request.on("error", reject);
    });
  for (const target of [path, buildAgentPath(agent, "archive")]) {
    const announced = open({ "content-length": 200_000_000 }, target);
    const status = waitForStatus(announced);
    announced.flushHeaders();
    expect(await status).toBe(413);
    announced.on("error", () => {});
    announced.destroy();
  }

  const unannounced = open({ "transfer-encoding": "chunked" });
  let isDone = false;
  const status = waitForStatus(unannounced)
    .catch(() => 413)
    .finally(() => (isDone = true));
  const megabyte = Buffer.alloc(1024 * 1024, 1);
  let sentMegabytes = 0;
  while (!isDone && sentMegabytes < 200) {
    sentMegabytes++;
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
  expect(sentMegabytes).toBeLessThan(120);
  expect(await listPaths(agent)).toEqual([]);
  expect((await files.host.client.call("health")).restarts).toBe(0);
});
