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
    const answer = await ask({
      job: { code, modules, ...(input === undefined ? {} : { input: JSON.stringify(input) }) },
    });
    expect(answer.status).toBe(200);
    const { outcome, calls, heard } = (await answer.json()) as { outcome: unknown; calls: string[]; heard: string[] };
    return { outcome: outcomeSchema.parse(outcome) as any, calls, heard };
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

  test("nothing of a run is left for the next one", async () => {
    await run({
      code: "globalThis.left = 1; Array.prototype.left = 1; Object.prototype.left = 1; String.prototype.slice = null; return 1",
    });
    const { outcome } = await run({ code: "return [globalThis.left, [].left, ({}).left, 'x'.slice(0)]" });
    expect(outcome.value).toBe("[ undefined, undefined, undefined, 'x' ]");
  });

  test("what is written is heard while the run goes on, and all of it is told at its end", async () => {
    const { outcome, heard } = await run({
      code: "const wait = () => new Promise((done) => setTimeout(done, 150));\nconsole.log(1); console.log(2); await wait(); console.log(3); await wait(); console.log(4)",
    });
    expect(outcome.console).toBe("1\n2\n3\n4\n");
    expect(heard[0]).toBe("1\n2\n");
    expect(outcome.console.startsWith(heard.join(""))).toBe(true);
    expect((await run({ code: "console.log(1)" })).heard).toEqual([]);
  });

  test("of a flood, the beginning and the end are told", async () => {
    const { outcome } = await run({ code: "for (let n = 0; n < 100_000; n++) console.log('line', n); return 'dry'" });
    expect(outcome.value).toBe("dry");
    expect(outcome.console).toMatch(/^line 0\nline 1\n[^]*\n… \d+ characters were left out here …\n[^]*line 99999\n$/);
    const { heard } = await run({
      code: "for (let n = 0; n < 100_000; n++) console.log('line', n); await new Promise((done) => setTimeout(done, 200))",
    });
    expect(heard.join("").length).toBeLessThan(40_000);
  });

  test("many runs at once do not hear each other", async () => {
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

    test("keeps what it has from request to request, and another version starts anew", async () => {
      const asked = ["a.1", "a.1", "a.2", "a.1"].map(
        (id) => async () => (await serve(id, counter(id === "a.1" ? 0 : 10), { path: "/x" })).text(),
      );
      const answers: string[] = [];
      for (const ask of asked) answers.push(await ask());
      expect(answers).toEqual(["1 /x", "2 /x", "11 /x", "3 /x"]);
    });

    test("may be a function, gets the request and answers as it likes", async () => {
      const answer = await serve(
        "f.1",
        "export default async (request) => new Response(await request.text() + '!', { status: 418, headers: { a: request.method } })",
        { init: { method: "PUT", body: "hi" } },
      );
      expect([answer.status, answer.headers.get("a"), await answer.text()]).toEqual([418, "PUT", "hi!"]);
    });

    test("has the capabilities of its request, for as long as it is not answered", async () => {
      const answer = await serve(
        "c.1",
        "let kept; export default async (_, env) => { const late = await kept?.(1).catch((e) => e.message); kept = env.echo; console.log('asked'); return Response.json([await env.echo(1), (await env.tools.x({ a: 1 })).input, (await env.fetch('https://a.b/')).status, late]) }",
      );
      expect(JSON.parse(answer.headers.get("x-heard") ?? "")).toEqual(["asked\n"]);
      expect(await answer.json()).toEqual([1, { a: 1 }, 201, null]);
      expect(await (await serve("c.1", "")).json()).toEqual([1, { a: 1 }, 201, expect.any(String)]);
    });

    test("streams", async () => {
      const answer = await serve(
        "s.1",
        "export default () => { let n = 0; return new Response(new ReadableStream({ async pull(c) { if (n++ === 3) return c.close(); await new Promise((done) => setTimeout(done, 30)); c.enqueue(new TextEncoder().encode(`${n}`)) } })) }",
      );
      const parts: string[] = [];
      for await (const part of answer.body!) parts.push(new TextDecoder().decode(part));
      expect(parts).toEqual(["1", "2", "3"]);
    });

    test("is opened by many requests at once", async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, async () => (await serve("m.1", counter(0))).text()),
      );
      expect(new Set(answers).size).toBe(10);
    });

    test.each([
      [
        "throws",
        "const a: number = 1;\nexport default { fetch(r: Request) { null.x } }",
        "TypeError: Cannot read properties of null (reading 'x')\n    at Object.fetch (app.ts:2:43)",
      ],
      ["throws while it is loaded", "\nthrow new Error('top')", "Error: top\n    at app.ts:2:7"],
      ["throws no error", "export default () => { throw 'x' }", "The code threw something that is not an Error: 'x'"],
      [
        "cannot be read",
        "export default {\n  fetch( }",
        "SyntaxError: Unexpected token (app.ts:2:10)\n\n  2 |   fetch( }\n    |          ^",
      ],
      [
        "imports what is not there",
        "import a from 'node:fs'; export default a",
        "SyntaxError: There is no module “node:fs”.",
      ],
      [
        "has nothing that answers",
        "export const a = 1",
        "TypeError: The default export of “app.ts” is undefined. It has to be an object with fetch(request, env), or such a function.",
      ],
      [
        "answers with something else",
        "export default () => ({ a: 1 })",
        "TypeError: The app's fetch gave back { a: 1 } where a Response is expected.",
      ],
      [
        "never answers",
        "export default () => new Promise(() => {})",
        "The code waits for something that can never happen",
      ],
      [
        "uses what comes with a request only",
        "export default () => fetch('https://a.b/')",
        "Error: In an app, fetch comes with the request: fetch(request, env) { … env.fetch … }\n    at default (app.ts:1:22)",
      ],
    ])("that %s says so, every time", async (what, code, message) => {
      for (let time = 0; time < 2; time++) {
        const answer = await serve(`t.${what}`, code);
        expect([answer.status, answer.headers.get("x-thinkery-app-error")]).toEqual([500, "1"]);
        const text = await answer.text();
        expect(text.slice(0, message.length)).toBe(message);
      }
    });
  });
});
