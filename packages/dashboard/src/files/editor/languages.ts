import type { Extension } from "@codemirror/state";

type Load = () => Promise<Extension>;

const script = (options: { jsx?: boolean; typescript?: boolean }): Load => async () => (await import("@codemirror/lang-javascript")).javascript(options);
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const css: Load = async () => (await import("@codemirror/lang-css")).css();
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const yaml: Load = async () => (await import("@codemirror/lang-yaml")).yaml();
const markdown: Load = async () => (await import("@codemirror/lang-markdown")).markdown();
const python: Load = async () => (await import("@codemirror/lang-python")).python();

const byEnding = new Map<string, Load>([
  ...["js", "mjs", "cjs"].map((ending) => [ending, script({})] as const),
  ...["ts", "mts", "cts"].map((ending) => [ending, script({ typescript: true })] as const),
  ["jsx", script({ jsx: true })],
  ["tsx", script({ jsx: true, typescript: true })],
  ...["html", "htm", "svg", "xml", "vue"].map((ending) => [ending, html] as const),
  ...["css", "scss", "less"].map((ending) => [ending, css] as const),
  ...["json", "jsonc", "webmanifest"].map((ending) => [ending, json] as const),
  ...["yaml", "yml"].map((ending) => [ending, yaml] as const),
  ...["md", "markdown", "mdx"].map((ending) => [ending, markdown] as const),
  ...["py", "pyi"].map((ending) => [ending, python] as const),
]);

/** How a file is coloured, by its name; each language is loaded when the first file of it is opened. */
export async function languageOf(path: string): Promise<Extension> {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return (await byEnding.get(ending)?.()) ?? [];
}
