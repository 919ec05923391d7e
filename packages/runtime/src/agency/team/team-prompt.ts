/** What an agent is told about its team. */
export interface TeamInfo {
  agency: string;
  /** The workflow that the agency is a run of. */
  workflow?: string;
  /** The other agents, with what they are for. */
  others: { name: string; role?: string }[];
}

const maxRoleChars = 200;
const maxListed = 50;

/** Describes the team in an agent's system prompt. */
export function formatTeamPrompt(agent: string, { agency, workflow, others }: TeamInfo): string {
  const place = workflow === undefined ? `the agency ${agency}` : `the workflow ${workflow} (agency ${agency})`;
  const lines = others.slice(0, maxListed).map(({ name, role }) => {
    const text = role?.replace(/\s+/g, " ").trim().slice(0, maxRoleChars);
    return `- @${name}${text ? `: ${text}` : ""}`;
  });
  const more = others.length > maxListed ? [`- and ${others.length - maxListed} more`] : [];
  const team =
    others.length === 0
      ? "You are its only agent."
      : `The other agents:\n${[...lines, ...more].join("\n")}
What you answer is not sent to them. Use channel_send and mention whom you need; each mention gives that agent a turn. Do not write just to thank or to confirm.`;
  return `## Your team\nYou are @${agent} in ${place}. ${team}`;
}
