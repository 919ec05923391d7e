import { toErrorBody, fail, ToolError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { openLinux } from "./linux.ts";

/** A daemon that answers this, and remembers what it was asked. */
function daemon(answer: (url: URL, init: RequestInit) => Response | Promise<Response>) {
  const asked: string[] = [];
  const HOST = {
    fetch: async (input: unknown, init: RequestInit = {}) => {
      const url = new URL(String(input));
      asked.push(`${init.method} ${url.pathname}${url.search} ${init.body ?? ""}`.trim());
      return answer(url, init);
    },
  };
  return { asked, linux: openLinux({ HOST: HOST as never }, "review:pr-1~alice") };
}

const createErrorResponse = (code: Parameters<typeof fail>[0], message: string, status = 400) =>
  Response.json(toErrorBody(fail(code, message)), { status });
const createRunOptions = (onOutput: (text: string) => void = () => {}, signal = new AbortController().signal) => ({
  signal,
  onOutput,
});

/** Lines, in pieces that know nothing of lines or characters. */
function respondInPieces(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
  return new Response(
    new ReadableStream({ pull: (to) => (pieces.length > 0 ? to.enqueue(pieces.shift()) : to.close()) }),
  );
}

test("what a command writes comes as it is written, and in the end what became of it", async () => {
  const lines = [
    { output: "grüße\n" },
    { output: "" },
    { output: "two\n" },
    { result: { exitCode: 3, output: "all", ms: 5 } },
  ];
  for (const size of [1, 7, 1000]) {
    const { linux, asked } = daemon(() =>
      respondInPieces(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), size),
    );
    const heard: string[] = [];
    expect(await linux.run("x", { ...createRunOptions((text) => heard.push(text)), timeoutMs: 500 })).toEqual({
      exitCode: 3,
      output: "all",
      ms: 5,
    });
    expect(heard).toEqual(["grüße\n", "", "two\n"]);
    expect(asked).toEqual([
      'POST /linux/run?agent=review%3Apr-1%7Ealice {"agent":"review:pr-1~alice","command":"x","timeoutMs":500}',
    ]);
  }
});

test("a daemon that is lost in the middle has lost the command", async () => {
  for (const text of ["", '{"output":"half"}\n', '{"output":"half"}\n{"result":{"exit']) {
    const { linux } = daemon(() => respondInPieces(text, 1000));
    const lost = await linux.run("x", createRunOptions()).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(ToolError);
    expect(lost).toMatchObject({ code: "sandbox_lost" });
  }
});

test("whoever cancels a command is gone for the daemon too", async () => {
  const cancel = new AbortController();
  let isGone = false;
  const { linux } = daemon((_, { signal }) => {
    const body = new ReadableStream({
      start(to) {
        to.enqueue(new TextEncoder().encode('{"output":"on"}\n'));
        signal?.addEventListener("abort", () => {
          isGone = true;
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
  expect(isGone).toBe(true);
});

test("a refusal is told in the daemon's words, with the kind of trouble it is", async () => {
  const because = (response: Response) =>
    daemon(() => response)
      .linux.start("x")
      .catch((error: unknown) => error);
  expect(await because(createErrorResponse("unavailable", "Install it."))).toMatchObject({
    name: "ToolFailure",
    code: "no_sandbox",
    message: "Install it.",
  });
  expect(await because(createErrorResponse("conflict", "Too many."))).toMatchObject({
    name: "ToolFailure",
    code: "limit",
    message: "Too many.",
  });
  expect(await because(createErrorResponse("not_found", "No process."))).toMatchObject({
    code: "not_found",
    message: "No process.",
  });
  expect(await because(createErrorResponse("internal", "A stack."))).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("Restart the host"),
  });
  expect(await because(new Response("nonsense", { status: 502 }))).toMatchObject({ code: "unavailable" });
});

test("processes are asked for by agent and id", async () => {
  const process = { id: "5f", command: "x", state: "running", startedAt: "", outputBytes: 0 };
  const { linux, asked } = daemon(({ pathname }) =>
    Response.json(pathname === "/linux/processes" ? { processes: [process] } : { ...process, output: "" }),
  );
  await linux.list();
  await linux.read("5f & more", 7);
  await linux.stop("5f");
  await linux.forget();
  const agent = "agent=review%3Apr-1%7Ealice";
  expect(asked).toEqual([
    `GET /linux/processes?${agent}`,
    `GET /linux/process?${agent}&id=5f+%26+more&after=7`,
    `POST /linux/stop?${agent}&id=5f`,
    `POST /linux/forget?${agent}`,
  ]);
});

test("where there is no host, there is no Linux sandbox, and nothing to forget", async () => {
  const linux = openLinux({}, "global~alice");
  for (const asked of [
    linux.run("x", createRunOptions()),
    linux.start("x"),
    linux.list(),
    linux.read("x"),
    linux.stop("x"),
  ]) {
    const refused = await asked.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ToolError);
    expect(refused).toMatchObject({ code: "no_sandbox", message: expect.stringContaining("needs a host") });
  }
  await linux.forget();
});
