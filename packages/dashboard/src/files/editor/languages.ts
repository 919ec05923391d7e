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
  ...["js", "mjs", "cjs"].map((extension) => [extension, createScriptLoader({})] as const),
  ...["ts", "mts", "cts"].map((extension) => [extension, createScriptLoader({ typescript: true })] as const),
  ["jsx", createScriptLoader({ jsx: true })],
  ["tsx", createScriptLoader({ jsx: true, typescript: true })],
  ...["html", "htm", "svg", "xml", "vue"].map((extension) => [extension, loadHtml] as const),
  ...["css", "scss", "less"].map((extension) => [extension, loadCss] as const),
  ...["json", "jsonc", "webmanifest"].map((extension) => [extension, loadJson] as const),
  ...["yaml", "yml"].map((extension) => [extension, loadYaml] as const),
  ...["md", "markdown", "mdx"].map((extension) => [extension, loadMarkdown] as const),
  ...["py", "pyi"].map((extension) => [extension, loadPython] as const),
]);

/** Loads the syntax highlighting for a file by its extension. Each language is loaded on first use. */
export async function loadLanguage(path: string): Promise<Extension> {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return (await loadersByExtension.get(extension)?.()) ?? [];
}
