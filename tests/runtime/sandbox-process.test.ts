import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outcomeSchema } from "../../packages/runtime/src/sandbox/run.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { type Program, programs } from "./sandbox-programs.ts";

describe.each(["service", "socket"] as const)("a sandbox behind a %s", (sandbox) => {
  let worker: BareWorker;

  beforeAll(async () => {
    worker = await startBareWorker(new URL("./sandbox-process.worker.ts", import.meta.url), { sandbox });
  });

  afterAll(() => worker?.stop());

  const ask = (body: unknown) => fetch(worker.url, { method: "POST", body: JSON.stringify(body) });

  async function run({ code, modules = {}, input }: Pick<Program, "code" | "modules" | "input">) {
    const response = await ask({
      job: { code, modules, ...(input === undefined ? {} : { input: JSON.stringify(input) }) },
    });
    expect(response.status).toBe(200);
    const { outcome, calls, output } = (await response.json()) as {
      outcome: unknown;
      calls: string[];
      output: string[];
    };
    return { outcome: outcomeSchema.parse(outcome) as any, calls, output };
  }

  describe.each(Object.entries(programs))("%s", (_, group) => {
    test.each(Object.entries(group))("%s", async (_, program) => {
      const { outcome, calls } = await run(program);
      const { console = "", value, syntax, threw, limit } = program;
      const message = syntax ?? threw ?? limit;
      const kind = syntax ? "syntax" : threw ? "threw" : "limit";
      expect(outcome).toEqual(
        message
          ? { ok: false, kind, message, console }
          : { ok: true, console, ...(value === undefined ? {} : { value }) },
      );
      if (program.calls !== "any") expect(calls).toEqual(program.calls ?? []);
    });
  });

  test("a run leaves nothing behind for the next one", async () => {
    await run({
      code: "globalThis.left = 1; Array.prototype.left = 1; Object.prototype.left = 1; String.prototype.slice = null; return 1",
    });
    const { outcome } = await run({ code: "return [globalThis.left, [].left, ({}).left, 'x'.slice(0)]" });
    expect(outcome.value).toBe("[ undefined, undefined, undefined, 'x' ]");
  });

  test("console output is reported during the run, and in full at its end", async () => {
    const { outcome, output } = await run({
      code: "const wait = () => new Promise((done) => setTimeout(done, 150));\nconsole.log(1); console.log(2); await wait(); console.log(3); await wait(); console.log(4)",
    });
    expect(outcome.console).toBe("1\n2\n3\n4\n");
    expect(output[0]).toBe("1\n2\n");
    expect(outcome.console.startsWith(output.join(""))).toBe(true);
    expect((await run({ code: "console.log(1)" })).output).toEqual([]);
  });

  test("excessive output is shortened to its beginning and end", async () => {
    const { outcome } = await run({ code: "for (let n = 0; n < 100_000; n++) console.log('line', n); return 'dry'" });
    expect(outcome.value).toBe("dry");
    expect(outcome.console).toMatch(/^line 0\nline 1\n[^]*\n… \d+ characters omitted …\n[^]*line 99999\n$/);
    const { output } = await run({
      code: "for (let n = 0; n < 100_000; n++) console.log('line', n); await new Promise((done) => setTimeout(done, 200))",
    });
    expect(output.join("").length).toBeLessThan(40_000);
  });

  test("concurrent runs are isolated from each other", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        run({ code: "console.log(input); return (await echo(input)) * 2", input: n }),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(
      outcomes.map((_, n) => ({ ok: true, console: `${n}\n`, value: `${n * 2}` })),
    );
  });

  describe("an app", () => {
    const serve = (id: string, code: string, more: object = {}) =>
      ask({ app: { id, main: "app.ts", modules: { "app.ts": code } }, ...more });
    const counter = (from: number) =>
      `let n: number = ${from};\nexport default { fetch(request: Request) { return new Response(\`\${++n} \${new URL(request.url).pathname}\`) } }`;

    test("keeps its state between requests, and another version starts fresh", async () => {
      const requests = ["a.1", "a.1", "a.2", "a.1"].map(
        (id) => async () => (await serve(id, counter(id === "a.1" ? 0 : 10), { path: "/x" })).text(),
      );
      const responses: string[] = [];
      for (const request of requests) responses.push(await request());
      expect(responses).toEqual(["1 /x", "2 /x", "11 /x", "3 /x"]);
    });

    test("may be a function, gets the request and returns any response", async () => {
      const response = await serve(
        "f.1",
        "export default async (request) => new Response(await request.text() + '!', { status: 418, headers: { a: request.method } })",
        { init: { method: "PUT", body: "hi" } },
      );
      expect([response.status, response.headers.get("a"), await response.text()]).toEqual([418, "PUT", "hi!"]);
    });

    test("has the capabilities of a request until it has responded", async () => {
      const response = await serve(
        "c.1",
        "let kept; export default async (_, env) => { const late = await kept?.(1).catch((e) => e.message); kept = env.echo; console.log('asked'); return Response.json([await env.echo(1), (await env.tools.x({ a: 1 })).input, (await env.fetch('https://a.b/')).status, late]) }",
      );
      expect(JSON.parse(response.headers.get("x-output") ?? "")).toEqual(["asked\n"]);
      expect(await response.json()).toEqual([1, { a: 1 }, 201, null]);
      expect(await (await serve("c.1", "")).json()).toEqual([1, { a: 1 }, 201, expect.any(String)]);
    });

    test("streams", async () => {
      const response = await serve(
        "s.1",
        "export default () => { let n = 0; return new Response(new ReadableStream({ async pull(c) { if (n++ === 3) return c.close(); await new Promise((done) => setTimeout(done, 30)); c.enqueue(new TextEncoder().encode(`${n}`)) } })) }",
      );
      const parts: string[] = [];
      for await (const part of response.body!) parts.push(new TextDecoder().decode(part));
      expect(parts).toEqual(["1", "2", "3"]);
    });

    test("is opened by many concurrent requests", async () => {
      const responses = await Promise.all(
        Array.from({ length: 10 }, async () => (await serve("m.1", counter(0))).text()),
      );
      expect(new Set(responses).size).toBe(10);
    });

    test.each([
      [
        "throws",
        "const a: number = 1;\nexport default { fetch(r: Request) { null.x } }",
        "TypeError: Cannot read properties of null (reading 'x')\n    at Object.fetch (app.ts:2:43)",
      ],
      ["throws while it is loaded", "\nthrow new Error('top')", "Error: top\n    at app.ts:2:7"],
      [
        "throws a non-Error value",
        "export default () => { throw 'x' }",
        "The code threw something that is not an Error: 'x'",
      ],
      [
        "has a syntax error",
        "export default {\n  fetch( }",
        "SyntaxError: Unexpected token (app.ts:2:10)\n\n  2 |   fetch( }\n    |          ^",
      ],
      [
        "imports a missing module",
        "import a from 'node:fs'; export default a",
        "SyntaxError: There is no module “node:fs”.",
      ],
      [
        "has no handler",
        "export const a = 1",
        "TypeError: The default export of “app.ts” is undefined. It must be an object with fetch(request, env), or such a function.",
      ],
      [
        "returns a non-Response value",
        "export default () => ({ a: 1 })",
        "TypeError: The app's fetch returned { a: 1 } instead of a Response.",
      ],
      [
        "never responds",
        "export default () => new Promise(() => {})",
        "The code awaits a promise that can never resolve",
      ],
      [
        "uses a global capability",
        "export default () => fetch('https://a.b/')",
        "Error: In an app, fetch is passed with the request: fetch(request, env) { … env.fetch … }\n    at default (app.ts:1:22)",
      ],
    ])("that %s reports it for every request", async (name, code, message) => {
      for (let time = 0; time < 2; time++) {
        const response = await serve(`t.${name}`, code);
        expect([response.status, response.headers.get("x-thinkery-app-error")]).toEqual([500, "1"]);
        const text = await response.text();
        expect(text.slice(0, message.length)).toBe(message);
      }
    });
  });
});
