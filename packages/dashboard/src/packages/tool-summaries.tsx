import type { Package } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";

/** The tools that an agent's code offers to the other agents of its agency. */
export function ToolSummaries({ tools }: Pick<Package, "tools">) {
  return (
    <ul className="tool-summaries">
      {tools.map(({ name, description }) => (
        <li key={name}>
          <span className="mono">{sanitizeText(name)}</span>
          <span>{sanitizeText(description)}</span>
        </li>
      ))}
    </ul>
  );
}
