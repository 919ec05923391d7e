import type { Extension } from "@codemirror/state";

type LanguageLoader = () => Promise<Extension>;

const createScriptLoader =
  (options: { jsx?: boolean; typescript?: boolean }): LanguageLoader =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript(options);
const loadHtml: LanguageLoader = async () => (await import("@codemirror/lang-html")).html();
const loadCss: LanguageLoader = async () => (await import("@codemirror/lang-css")).css();
const loadJson: LanguageLoader = async () => (await import("@codemirror/lang-json")).json();
const loadYaml: LanguageLoader = async () => (await import("@codemirror/lang-yaml")).yaml();
const loadMarkdown: LanguageLoader = async () => (await import("@codemirror/lang-markdown")).markdown();
const loadPython: LanguageLoader = async () => (await import("@codemirror/lang-python")).python();

const loadersByExtension = new Map<string, LanguageLoader>([
  ...["js", "mjs", "cjs"].map((ending) => [ending, createScriptLoader({})] as const),
  ...["ts", "mts", "cts"].map((ending) => [ending, createScriptLoader({ typescript: true })] as const),
  ["jsx", createScriptLoader({ jsx: true })],
  ["tsx", createScriptLoader({ jsx: true, typescript: true })],
  ...["html", "htm", "svg", "xml", "vue"].map((ending) => [ending, loadHtml] as const),
  ...["css", "scss", "less"].map((ending) => [ending, loadCss] as const),
  ...["json", "jsonc", "webmanifest"].map((ending) => [ending, loadJson] as const),
  ...["yaml", "yml"].map((ending) => [ending, loadYaml] as const),
  ...["md", "markdown", "mdx"].map((ending) => [ending, loadMarkdown] as const),
  ...["py", "pyi"].map((ending) => [ending, loadPython] as const),
]);

/** How a file is coloured, by its name; each language is loaded when the first file of it is opened. */
export async function loadLanguage(path: string): Promise<Extension> {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return (await loadersByExtension.get(ending)?.()) ?? [];
}
