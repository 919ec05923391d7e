/** A piece of a template: text as it is, or a placeholder. */
type TemplatePart =
  | { kind: "text"; text: string }
  | { kind: "name"; name: string; index: number }
  | { kind: "malformed"; source: string; reason: string; index: number };

const namePattern = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)?$/;
const maxSourceChars = 60;
/** White space is shortened, so more may be needed than is shown. */
const maxShownChars = 1000;

/**
 * Splits a template at its placeholders, `${{ name }}`. `$${{` is the text `${{`. `index` counts the openings in the
 * template, escaped ones included, so that a place can be found again in a file that spells the text otherwise.
 */
export function* parseTemplate(template: string): Generator<TemplatePart, void, undefined> {
  let text = "";
  let from = 0;
  // Looked for again only once it is passed: a template without any would be read to its end for each opening.
  let end = 0;
  for (let index = 0; ; index++) {
    const start = template.indexOf("${{", from);
    if (start === -1) break;
    const isEscaped = start > from && template[start - 1] === "$";
    if (isEscaped) {
      text += `${template.slice(from, start - 1)}\${{`;
      from = start + 3;
      continue;
    }
    text += template.slice(from, start);
    if (text !== "") yield { kind: "text", text };
    text = "";
    if (end !== -1 && end <= start) end = template.indexOf("}}", start);
    const inner = end === -1 ? "" : template.slice(start + 3, end);
    const isClosed = end !== -1 && !inner.includes("${{");
    const name = inner.trim();
    if (isClosed && namePattern.test(name)) yield { kind: "name", name, index };
    else yield createMalformed(template.slice(start, start + maxShownChars), isClosed ? inner : undefined, index);
    from = isClosed ? end + 2 : start + 3;
  }
  text += template.slice(from);
  if (text !== "") yield { kind: "text", text };
}

function createMalformed(rest: string, inner: string | undefined, index: number): TemplatePart {
  const source = shorten(inner === undefined ? (rest.split("\n")[0] ?? "") : rest.slice(0, inner.length + 5));
  const reason =
    inner === undefined
      ? "has no closing “}}”"
      : inner.trim() === ""
        ? "has no name"
        : "is not a name; use workflow.name, workflow.tag, env.NAME, vars.name or the name of a setup step";
  return { kind: "malformed", source, reason, index };
}

function shorten(source: string): string {
  const line = source.replace(/\s+/g, " ");
  return line.length > maxSourceChars ? `${line.slice(0, maxSourceChars - 1)}…` : line;
}
