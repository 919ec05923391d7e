import { toErrorBody, fail, ToolError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { openLinux } from "./linux.ts";

/** A daemon that responds like this and records its requests. */
function createDaemon(respond: (url: URL, init: RequestInit) => Response | Promise<Response>) {
  const requests: string[] = [];
  const HOST = {
    fetch: async (input: unknown, init: RequestInit = {}) => {
      const url = new URL(String(input));
      requests.push(`${init.method} ${url.pathname}${url.search} ${init.body ?? ""}`.trim());
      return respond(url, init);
    },
  };
  return { requests, linux: openLinux({ HOST: HOST as never }, "review:pr-1~alice") };
}

const createErrorResponse = (code: Parameters<typeof fail>[0], message: string, status = 400) =>
  Response.json(toErrorBody(fail(code, message)), { status });
const createRunOptions = (onOutput: (text: string) => void = () => {}, signal = new AbortController().signal) => ({
  signal,
  onOutput,
});

/** Responds in pieces that may end within a line or a character. */
function respondInPieces(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
  return new Response(
    new ReadableStream({ pull: (to) => (pieces.length > 0 ? to.enqueue(pieces.shift()) : to.close()) }),
  );
}

test("a command's output is streamed, followed by its result", async () => {
  const lines = [
    { output: "grüße\n" },
    { output: "" },
    { output: "two\n" },
    { result: { exitCode: 3, output: "all", ms: 5 } },
  ];
  for (const size of [1, 7, 1000]) {
    const { linux, requests } = createDaemon(() =>
      respondInPieces(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), size),
    );
    const received: string[] = [];
    expect(await linux.run("x", { ...createRunOptions((text) => received.push(text)), timeoutMs: 500 })).toEqual({
      exitCode: 3,
      output: "all",
      ms: 5,
    });
    expect(received).toEqual(["grüße\n", "", "two\n"]);
    expect(requests).toEqual([
      'POST /linux/run?agent=review%3Apr-1%7Ealice {"agent":"review:pr-1~alice","command":"x","timeoutMs":500}',
    ]);
  }
});

test("a connection lost during a command is reported as a lost sandbox", async () => {
  for (const text of ["", '{"output":"half"}\n', '{"output":"half"}\n{"result":{"exit']) {
    const { linux } = createDaemon(() => respondInPieces(text, 1000));
    const error = await linux.run("x", createRunOptions()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({ code: "sandbox_lost" });
  }
});

test("canceling a command closes the connection to the daemon", async () => {
  const cancel = new AbortController();
  let isAborted = false;
  const { linux } = createDaemon((_, { signal }) => {
    const body = new ReadableStream({
      start(to) {
        to.enqueue(new TextEncoder().encode('{"output":"on"}\n'));
        signal?.addEventListener("abort", () => {
          isAborted = true;
          to.error(signal.reason);
        });
      },
    });
    return new Response(body);
  });
  await expect(
    linux.run(
      "x",
      createRunOptions(() => cancel.abort(new Error("enough")), cancel.signal),
    ),
  ).rejects.toThrow("enough");
  expect(isAborted).toBe(true);
});

test("errors keep the daemon's message and get a matching code", async () => {
  const getError = (response: Response) =>
    createDaemon(() => response)
      .linux.start("x")
      .catch((error: unknown) => error);
  expect(await getError(createErrorResponse("unavailable", "Install it."))).toMatchObject({
    name: "ToolError",
    code: "no_sandbox",
    message: "Install it.",
  });
  expect(await getError(createErrorResponse("conflict", "Too many."))).toMatchObject({
    name: "ToolError",
    code: "limit",
    message: "Too many.",
  });
  expect(await getError(createErrorResponse("not_found", "No process."))).toMatchObject({
    code: "not_found",
    message: "No process.",
  });
  expect(await getError(createErrorResponse("internal", "A stack."))).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("Restart the host"),
  });
  expect(await getError(new Response("nonsense", { status: 502 }))).toMatchObject({ code: "unavailable" });
});

test("processes are requested by agent and id", async () => {
  const process = { id: "5f", command: "x", state: "running", startedAt: "", outputBytes: 0 };
  const { linux, requests } = createDaemon(({ pathname }) =>
    Response.json(pathname === "/linux/processes" ? { processes: [process] } : { ...process, output: "" }),
  );
  await linux.list();
  await linux.read("5f & more", 7);
  await linux.stop("5f");
  await linux.forget();
  const agent = "agent=review%3Apr-1%7Ealice";
  expect(requests).toEqual([
    `GET /linux/processes?${agent}`,
    `GET /linux/process?${agent}&id=5f+%26+more&after=7`,
    `POST /linux/stop?${agent}&id=5f`,
    `POST /linux/forget?${agent}`,
  ]);
});

test("without a host there is no Linux sandbox and nothing to forget", async () => {
  const linux = openLinux({}, "global~alice");
  for (const call of [
    linux.run("x", createRunOptions()),
    linux.start("x"),
    linux.list(),
    linux.read("x"),
    linux.stop("x"),
  ]) {
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({ code: "no_sandbox", message: expect.stringContaining("needs a host") });
  }
  await linux.forget();
});
