/** The report of a sub-agent that worked in the background. */
export interface DeliveredReport {
  taskId: string;
  agentType: string;
  status: string;
  text: string;
}

export interface DeliveredReports {
  reports: DeliveredReport[];
  /** What the message says besides them, such as that there are more. */
  rest: string;
}

const start = "<subagent_report ";
const pattern =
  /<subagent_report task="([^"\n]*)" type="([^"\n]*)" status="([^"\n]*)">\n([\s\S]*?)\n<\/subagent_report>(?:\n|$)/y;

/** Parses the notice with which an agent gets reports. Returns undefined if it is any other. */
export function parseReports(content: string): DeliveredReports | undefined {
  if (!content.startsWith(start)) return undefined;
  const reports: DeliveredReport[] = [];
  let end = 0;
  for (;;) {
    pattern.lastIndex = end;
    const match = pattern.exec(content);
    if (!match) break;
    const [all, taskId = "", agentType = "", status = "", text = ""] = match;
    reports.push({ taskId, agentType, status, text });
    end += all.length;
  }
  return reports.length > 0 ? { reports, rest: content.slice(end) } : undefined;
}
