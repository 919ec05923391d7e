import type { AgentCapability } from "@thinkery/sdk";

/** What a capability lets an agent's code do. */
const meanings: Record<AgentCapability, string> = {
  ai: "calls models",
  tools: "calls tools",
  fs: "reads and writes files",
  bash: "runs commands",
  fetch: "requests URLs",
  channel: "writes messages on its own",
};

interface CapabilityChipsProps {
  capabilities: readonly AgentCapability[];
  /** Those that the version before did not have. */
  added?: readonly AgentCapability[];
}

/** What an agent's code may use, in plain words. */
export function CapabilityChips({ capabilities, added = [] }: CapabilityChipsProps) {
  if (capabilities.length === 0) return <span className="faint">only its replies, state, storage and log</span>;
  return (
    <ul className="badges">
      {capabilities.map((name) => (
        <li key={name} className="badge" data-added={added.includes(name) || undefined}>
          <span className="mono">{name}</span> <span className="faint">{meanings[name] ?? ""}</span>
        </li>
      ))}
    </ul>
  );
}
