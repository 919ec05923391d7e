import { describe, expect, test } from "vitest";
import { toSourceColumn } from "./column-map.ts";
import { SourceError } from "./source-error.ts";
import { prepareApp, prepareJob } from "./source.ts";
import { strip } from "./stripper/strip.ts";
import { stripTypes, type Stripped } from "./typescript.ts";

const job = (code: string, modules: Record<string, string> = {}) => prepareJob({ code, modules }, strip);

async function prepareText(code: string, modules: Record<string, string> = {}): Promise<string> {
  const { code: module } = (await job(code, modules)).modules;
  return (module as { js: string }).js;
}

async function findError(code: string, modules: Record<string, string> = {}): Promise<SourceError> {
  const error = await job(code, modules).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SourceError);
  return error as SourceError;
}

describe("code keeps its positions", () => {
  test.each([
    ["an import", 'const a = 1\nimport b from "./b.js"\n;[1].map(b)'],
    ["an import over several lines", 'import {\n  c, // the third\n} from "./b.js"; c()\nreturn 1'],
    ["exports", "export const a = 1; a\nexport function f() {}\nexport default 2 ; a"],
    ["a default function", "a()\nexport default function () { b() } ; c()\nfunction a() {}"],
    ["a default function with a name", "export default async function f(x) { return x } ; c()"],
    ["a default class", "export default class { m() {} } ; c()"],
    ["a dynamic import", 'const m = await import("./b.js"); m.f()'],
  ])("%s", async (_, code) => {
    const [, ...lines] = (await prepareText(code, { "b.js": "export default 1; export const c = 1" })).split("\n");
    const given = code.split("\n");
    for (const [at, line] of given.entries()) {
      expect(lines[at]).toHaveLength(line.length);
      for (const word of line.matchAll(/\b[abc]\(\)|\[1\]|return/g))
        expect(lines[at]?.startsWith(word[0], word.index)).toBe(true);
    }
  });

  test("a hashbang becomes a comment", async () => {
    const { code, "a.js": module } = (
      await job("#!/usr/bin/env node\nreturn 1", { "a.js": "#!/bin/x\nexport default 1" })
    ).modules as Record<string, { js: string }>;
    expect([code?.js, module?.js]).toEqual([
      expect.stringContaining("\n///usr/bin/env node\n"),
      "\n///bin/x\nexport default 1",
    ]);
  });

  test("CRLF line endings count as one", async () => {
    expect((await findError("let a = 1\r\nlet b = 2\r\n  let c = ;")).message).toContain("(code:3:11)");
  });
});

describe("syntax errors include their position", () => {
  test.each([
    [
      "JavaScript",
      "const a = 1;\nconst b = 2;\n  foo(a, ;",
      "SyntaxError: Unexpected token (code:3:10)\n\n  3 |   foo(a, ;\n    |          ^",
    ],
    [
      "TypeScript",
      "const a: number = 1;\nconst b: string = ;",
      "(code:2:19)\n\n  2 | const b: string = ;\n    |                   ^",
    ],
    [
      "TypeScript after types on the line",
      "const a: Map<string, number> = new Map(); let a = 2",
      "Identifier 'a' has already been declared (code:1:47)",
    ],
    ["a line with tabs", "\t\tlet = = 1", "  1 | \t\tlet = = 1\n    | \t\t"],
    [
      "JavaScript that TypeScript would read differently",
      "const x = y ? (z) : w => 1; let q = ;",
      "Unexpected token (code:1:37)",
    ],
    ["CR line endings", "let a = 1\rlet b = ;", "(code:2:9)"],
    ["nothing but an opening brace", "{", "(code:1:2)"],
    ["JSX", "return <div/>", "(code:1:12)"],
    [
      "a namespace",
      'const s: string = "";\nnamespace N { export const a = 1 }',
      "Namespaces are not supported: use a module (code:2:11)",
    ],
    [
      "an export that is not the result",
      "const a = 1;\nexport { a }",
      "return the result, or export it as default (code:2:1)",
    ],
    [
      "an import inside a block",
      'if (a) { import b from "./b.js"; b() }',
      "may only appear at the top level (code:1:10)",
    ],
    ["code that closes the surrounding function", "} evil(); {", "Unexpected token (code:1:1)"],
  ])("%s", async (_, code, message) => {
    const error = await findError(code);
    expect(error.kind).toBe("syntax");
    expect(error.message).toContain(message);
  });

  test("a long line is shown around the position", async () => {
    const { message } = await findError(`${"a;".repeat(5000)} let x = ;`);
    expect(message).toContain("(code:1:10010)");
    expect(message.length).toBeLessThan(400);
    const [, line = "", caret = ""] = message.split("\n\n")[1]?.match(/\| (.*)\n +\| (.*)/) ?? [];
    expect(line[caret.length - 1]).toBe(";");
    expect(line.slice(0, caret.length)).toMatch(/let x = ;$/);
  });

  test("in a module, the position has the module's name", async () => {
    expect((await findError("return 1", { "lib/a.ts": "let x: number = 1;\nlet y: = 2" })).message).toContain(
      "(lib/a.ts:2:8)",
    );
    expect((await findError("return 1", { "a.json": '{\n  "a": 1,\n}' })).message).toMatch(/\(a\.json:3:1\)/);
  });

  test("extremely nested code is a syntax error, not a crash", async () => {
    expect((await findError(`return ${"[".repeat(50_000)}`)).kind).toBe("syntax");
  });
});

describe("modules", () => {
  test.each([
    "",
    ".",
    "..",
    "../a.js",
    "/a.js",
    "a/../b.js",
    "a//b.js",
    "node:fs",
    "cloudflare:workers",
    "https://x/y.js",
    "code",
    "thinkery/harness.js",
    "a\nb.js",
    "a:1:2.js",
    "__proto__",
    "x".repeat(201),
  ])("“%s” is not a valid name", async (name) => {
    expect((await findError("return 1", { [name]: "export default 1" })).message).toMatch(/module|name/);
  });

  test.each(["a.jsx", "a.tsx", "a.cjs"])("%s is not a supported module type", async (name) => {
    expect((await findError("return 1", { [name]: "1" })).message).toContain("JavaScript (.js) or TypeScript (.ts)");
  });

  test("number and size are limited", async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`m${index}.js`, ""]));
    expect(await findError("", many)).toMatchObject({
      kind: "limit",
      message: "There are 101 modules; the limit is 100.",
    });
    expect(await findError("", { "a.txt": "é".repeat(600_000) })).toMatchObject({
      kind: "limit",
      message: expect.stringContaining("1200000 bytes"),
    });
    expect(await findError(`//${"x".repeat(1024 * 1024)}`)).toMatchObject({ kind: "limit" });
  });

  test("duplicate names are refused", async () => {
    expect((await findError("", { "a.js": "", "./a.js": "" })).message).toBe("There are two modules named “a.js”.");
  });

  const given = {
    "util.js": "export default 1",
    "lib/parse.ts": "export const n: number = 1",
    "lib/index.ts": "export default 2",
    "data.json": "[1]",
    "note.txt": "hi",
  };

  test.each([
    ["./util.js", "util.js"],
    ["util.js", "util.js"],
    ["./util", "util.js"],
    ["util", "util.js"],
    ["/util.js", "util.js"],
    ["./lib/../util.js", "util.js"],
    ["./lib/parse.ts", "lib/parse.ts"],
    ["./lib/parse.js", "lib/parse.ts"],
    ["lib/parse", "lib/parse.ts"],
    ["./lib", "lib/index.ts"],
    ["data.json", "data.json"],
    ["./note.txt", "note.txt"],
  ])("“%s” resolves to %s", async (specifier, name) => {
    expect(await prepareText(`import ${JSON.stringify(specifier)};`, given)).toContain(`import"/${name}"`);
  });

  test.each([
    "./missing.js",
    "../util.js",
    "node:fs",
    "cloudflare:workers",
    "cloudflare:sockets",
    "workerd:unsafe",
    "data:text/javascript,1",
    "https://esm.sh/zod",
    "zod",
    "./code",
    "thinkery/harness.js",
    "/thinkery/entry.js",
  ])("“%s” does not resolve", async (specifier) => {
    const { kind, message } = await findError(`\nimport * as x from ${JSON.stringify(specifier)};`, given);
    expect([kind, message]).toEqual(["syntax", expect.stringContaining(`There is no module “${specifier}”.`)]);
    expect(message).toContain("(code:2:20)");
    expect(message).toContain("“util.js”");
  });

  test("importing a name that a module does not export fails before anything runs", async () => {
    const { message } = await findError('import { n, m as other } from "./lib/parse.ts"', given);
    expect(message).toContain("“lib/parse.ts” does not export “m”; it exports n (code:1:13)");
    expect((await findError('import util, { n } from "util"', given)).message).toContain("(code:1:16)");
    expect((await findError('import { a } from "./note.txt"', given)).message).toContain(
      "does not export “a”; it exports default",
    );
    expect((await findError('import x from "./lib/parse.ts"', given)).message).toContain("does not export “default”");
  });

  test("every form of import and export reaches its module", async () => {
    const modules = {
      "a.ts":
        'export { b as c, type T } from "./b.ts"; export * as all from "./b.ts"; export * from "./b.ts"; import type { T } from "./b.ts"; export { T } from "./b.ts"; export default class {}',
      "b.ts":
        'export interface T { x: number }; export const { b, ...rest } = { b: 1 }; export function f() {}; export { b as "a name" }',
    };
    const text = await prepareText(
      'import D, { c, "a name" as n } from "./a.ts"; import * as ns from "./b.ts"; import "./b.ts"',
      modules,
    );
    expect(text.split("\n")[0]).toBe(
      'import D,{c as c,"a name" as n} from"/a.ts";import * as ns from"/b.ts";import"/b.ts";export default async function(){',
    );
    const { "a.ts": a } = (await job("", modules)).modules as Record<string, { js: string }>;
    expect(a?.js.split("\n")[0]).toBe(
      'export{b as c}from"/b.ts";export* as all from"/b.ts";export*from"/b.ts";export{}from"/b.ts";',
    );
  });

  test("our own names never collide with the code's", async () => {
    const text = await prepareText('const $impor = 1; const $i0000 = 2; export default await import("./util")', given);
    expect(text).toContain("await $i0001(");
    expect(await prepareText("await import('./util'); \\u0024impor; \\u{24}i0001", given)).toContain("await $i0002(");
    expect(await prepareText("const main = 1; export default main", given)).toContain("ma01=");
  });

  test("an app has a main module that imports others", async () => {
    const { modules, main } = await prepareApp(
      {
        main: "./app.ts",
        modules: {
          "app.ts": 'import { n } from "./n"; export default () => new Response(n as string)',
          "n.js": "export const n = 1",
        },
      },
      strip,
    );
    expect(main).toBe("app.ts");
    expect((modules["app.ts"] as { js: string }).js).toContain('import {n as n} from"/n.js"');
    await expect(prepareApp({ main: "b.ts", modules: { "app.ts": "" } }, strip)).rejects.toThrow("no module “b.ts”");
    await expect(prepareApp({ main: "b.txt", modules: { "b.txt": "" } }, strip)).rejects.toThrow(
      "no module “b.txt” with code",
    );
  });
});

describe("modern syntax is parsed", () => {
  test.each([
    "using a = b; await using c = d",
    "class A { static { } #x = 1; static #y; has(o) { return #x in o } accessor = 1; get [`a`]() {} }",
    "for await (const x of y) await null ?? 1_000n",
    "/(?<a>x)|(?<a>y)/v.exec('x'); /(?i:a)b/.test('')",
    "a ||= b?.[c]?.(d) ** 2; try {} catch {}",
    'import x from "./x.json" with { type: "json" }',
    "label: { break label }",
    "return",
    "function f() {} function g() { return new.target }",
  ])("%s", async (code) => {
    await expect(job(code, { "x.json": "1" })).resolves.toBeDefined();
  });
});

describe("types are removed and positions map back to the source", () => {
  test.each([
    "const x: number = 1, y = foo<(a: string) => void>(x as any)!.bar; x!.boom(); (x as Foo).boom()",
    "enum A { X, Y = 's' } const z: number = A.X; boom()",
    "class P<T> extends Q<T> implements I, J { declare a: string; abstract?: number; constructor(private readonly a: number, public b = 2) { super(); this.c(); } c?(): void { boom() } }; boom()",
    "const f = <T,>(x: T, ...y: T[]): x is { a: string } => boom(x); boom()",
    "const f = (x: number): {\n  a: string\n} => ({ a: String(x) }); boom()",
    "const t = `a${q as T} b ${boom<T>(1)} c ${q!} d`; boom()",
    "let a: T = `${x as T}`, b: T = `a${x!}${boom(1)}`, c: T = ``; boom(2) as T; f`${boom(3)}``${`${boom(4)}`}`; boom(5)",
    "`${a}${b}${c}`; (x as T).boom(1)",
    "let a: T = '}`', b: T = /[`]`}${/; if (a as T) {}`x`; boom()",
    "interface I { a: string }; type T = I & { b: number }; let q: T; boom()",
    "import type { Z } from './z'; import { W, v } from './w'; let w: W; boom(v)",
    "declare const q: number; function over(a: string): void; function over(a: any) {} boom()",
    "let b = <any>boom(1); f(a as T)`${boom(2)}`; x! = boom(3)",
    "let b = <any>a; let c!: Array<{ a: number }> = d satisfies unknown; boom()",
    "export abstract class B { abstract x(): void; protected override y: string = '' } export type { T }; boom()",
  ])("%s", async (given) => {
    const { text, columnMap } = (await stripTypes(given, strip)) as Stripped;
    const lines = given.split("\n");
    let seen = 0;
    for (const [at, line] of text.split("\n").entries()) {
      for (const { 0: word, index } of line.matchAll(/\bboom\(|\bString\(|\bsuper\(|\bthis\.c\(/g)) {
        seen++;
        const column = toSourceColumn(columnMap, at + 1, index);
        expect([word, lines[at]?.slice(column, column + word.length - 1)]).toEqual([word, word.slice(0, -1)]);
      }
    }
    expect(seen).toBeGreaterThan(0);
  });

  test("templates stay as they were", async () => {
    const given = "return `${a}` + ``+ `x${b}${c}y` + '}`' // `${";
    expect(await prepareText(`${given}\nlet x: number`)).toContain(given);
    expect((await findError("let a: string = `${b}${c}`; let c: = 1")).message).toContain("(code:1:36)");
  });

  test("generic calls are not read as comparisons", async () => {
    expect(await prepareText("return id<string>(x)")).toContain("return id(x)");
    expect(await prepareText("return a < b > (c)")).toContain("return a < b > (c)");
    expect(await prepareText("return a<b && c>(d)")).toContain("return a<b && c>(d)");
  });
});

describe("files of the workspace", () => {
  /** Prepares a job in a workspace; `requested` lists the paths that were looked up. */
  async function prepareInWorkspace(code: string, files: Record<string, string>, modules: Record<string, string> = {}) {
    const requested: string[] = [];
    const prepared = await prepareJob({ code, modules }, strip, async (paths) => {
      const path = paths.find((candidate) => Object.hasOwn(files, candidate));
      requested.push(path ?? paths[0] ?? "");
      return path === undefined ? undefined : { path, text: files[path] as string };
    });
    return { modules: prepared.modules as Record<string, { js?: string; json?: unknown; text?: string }>, requested };
  }

  const getError = (code: string, files: Record<string, string>) =>
    prepareInWorkspace(code, files).then(
      () => "",
      (error: Error) => error.message,
    );

  test.each([
    ["from the same folder", 'import x from "./lib.ts"', "lib.ts"],
    ["without an extension", 'import x from "./lib"', "lib.ts"],
    ["with a .js extension", 'import x from "./lib.js"', "lib.ts"],
    ["by its path in shells", 'import x from "/work/lib.ts"', "lib.ts"],
    ["from the root", 'import x from "/lib.ts"', "lib.ts"],
    ["as a folder's index", 'import x from "./src"', "src/index.ts"],
    ["dynamically", 'const { default: x } = await import("./lib.ts")', "lib.ts"],
  ])("one is imported %s", async (_, code, path) => {
    const { modules } = await prepareInWorkspace(`${code}\nreturn x`, {
      "lib.ts": "export default 1 as number",
      "src/index.ts": "export default 2",
    });
    expect(Object.keys(modules).sort()).toEqual(["code", path].sort());
    expect(modules[path]?.js).toContain("export default");
  });

  test("imports resolve relative to their file, are read once, and passed modules come first", async () => {
    const { modules, requested } = await prepareInWorkspace(
      'import { a } from "./src/a.ts"; import b from "./src/b.ts"; import "./given.js"; return [a, b]',
      {
        "src/a.ts":
          'import b from "./b.ts"; import up from "../up.js"; import data from "./data.json"; import words from "/work/words.md"; export const a = [b, up, data, words]',
        "src/b.ts": 'import { a } from "./a"; export default () => a',
        "up.js": "export default 1",
        "src/data.json": '{"n": 1}',
        "words.md": "# Words",
        "given.js": "never read",
      },
      { "given.js": "export default 0" },
    );
    expect(requested).toEqual(["src/a.ts", "src/b.ts", "up.js", "src/data.json", "words.md"]);
    expect(modules["src/data.json"]).toEqual({ json: { n: 1 } });
    expect(modules["words.md"]).toEqual({ text: "# Words" });
    expect(modules["src/a.ts"]?.js).toContain('from"/up.js"');
    expect(modules["given.js"]?.js).toContain("export default 0");
  });

  test("a missing file is a syntax error with its position", async () => {
    expect(await getError('const a = 1\nimport x from "./lib.ts"', {})).toContain(
      "SyntaxError: There is no file “lib.ts” in the workspace (code:2:15)",
    );
    expect(await getError('import x from "/work/lib.ts"', {})).toContain("There is no file “lib.ts” in the workspace");
    expect(await getError('import "./a.ts"', { "a.ts": 'import "./b.ts"' })).toContain(
      "There is no file “b.ts” in the workspace (a.ts:1:8)",
    );
    expect(await getError('import x from "../lib.ts"', {})).toContain("“../lib.ts” is outside the workspace");
    expect(await getError('import x from "lodash"', {})).toContain("There is no module “lodash”");
    expect(await getError('import { x } from "./a.ts"', { "a.ts": "export const y = 1" })).toContain(
      "“a.ts” does not export “x”",
    );
    expect(await getError('import "./a.ts"', { "a.ts": "let = = 1" })).toContain("(a.ts:1:");
    expect(await getError('import x from "./a.json"', { "a.json": "{" })).toContain("(a.json:1:2)");
    expect(await getError('import "./thinkery/harness.js"', { "thinkery/harness.js": "1" })).toContain(
      "the sandbox uses that name itself",
    );
  });

  test("a missing dynamic import fails only at run time", async () => {
    expect(
      (await prepareInWorkspace('if (0) await import("./no.ts"); await import(`./${1}.ts`)', {})).requested,
    ).toEqual(["no.ts"]);
  });

  test("their number and size are limited", async () => {
    const chain = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`m${n}.js`, `import "./m${n + 1}.js"`]));
    expect(await getError('import "./m0.js"', chain)).toContain("the limit is 100 modules");
    expect(await getError('import "./a.txt"', { "a.txt": "x".repeat(1024 * 1024) })).toContain(
      "with 1048576 bytes in total",
    );
  });

  test("without a workspace, no file is requested", async () => {
    expect((await findError('import x from "./lib.ts"')).message).toContain(
      "There is no module “./lib.ts”. Only modules that were passed along",
    );
  });
});
