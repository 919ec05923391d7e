import type { Subagent } from "@thinkery/sdk";
import { showControlChars } from "../chat/blocks.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";

interface SubagentLinkProps {
  agency: string;
  /** Path of the agent that it works for. */
  agent: string;
  subagent: Subagent;
}

/** The title of a sub-agent, as a link to its conversation if it has one. */
export function SubagentLink({ agency, agent, subagent: { title, facetName, startedAt, deleted } }: SubagentLinkProps) {
  const text = showControlChars(title);
  if (startedAt === undefined || deleted) return <span className="task-title">{text}</span>;
  return (
    <Link className="task-title" href={buildPath(agency, `${agent}/${facetName}`)} title={facetName}>
      {text}
    </Link>
  );
}
