// An agent is addressed by its name, and a sub-agent by the path to it: `alice/subagent-x`, at any depth.

/** Returns the last name of a path. */
export function getAgentName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the path of the agent that a sub-agent works for, or undefined if it is none. */
export function getParentPath(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end);
}

/** Returns the agent at the top of a path. Its files are those of everyone below it. */
export function getRootAgent(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

/** Builds the URL of an agent's endpoints, for what `call` cannot do: uploads, downloads and sockets. */
export function buildAgentUrl(agency: string, path: string): string {
  return `/agency/${encodeURIComponent(agency)}/agent/${path.split("/").map(encodeURIComponent).join("/sub/")}`;
}
