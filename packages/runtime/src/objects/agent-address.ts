import { type AgentAddress, fail, parseAddress } from "@thinkery/sdk";

/**
 * Resolves an agent's address from the Agents SDK's own path, which is root first. The root object is named after its
 * agency and agent; each facet below it adds its own name.
 */
export function resolveAddress(path: readonly { name: string }[]): AgentAddress {
  const [root = "", ...subAgents] = path.map(({ name }) => name);
  const address = parseAddress(root);
  if (!address) throw fail("not_found", "Agent not found.");
  return { agency: address.agency, path: [...address.path, ...subAgents] };
}
