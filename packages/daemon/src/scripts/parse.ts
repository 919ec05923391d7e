import { fail, validateScript, type Script } from "@thinkery/sdk";
import { YamlSource } from "../yaml/yaml-source.ts";

/** Parses and validates a script. `file` is its name in error messages. */
export function parseScript(file: string, text: string): Script {
  const source = new YamlSource(file, text);
  const [error] = source.syntaxIssues;
  if (error)
    throw fail("bad_request", `${file}, ${source.formatPosition(error.offset)}: invalid YAML (${error.message}).`);

  const { script, issues } = validateScript(source.toValue());
  if (script) return script;
  const located = issues.map(({ path, message }) => ({
    path,
    message: `${message} (${source.formatPosition(source.findOffset(path))})`,
  }));
  const { path = [], message = "invalid script" } = issues[0] ?? {};
  const subject = path.length > 0 ? `${path.join(".")}: ` : "";
  throw fail("bad_request", `${file}, ${source.formatPosition(source.findOffset(path))}: ${subject}${message}.`, {
    issues: located,
  });
}
