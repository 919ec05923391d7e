import { type DeliveredReport, parseReports } from "@thinkery/sdk";
import { memo } from "react";
import { showControlChars } from "../chat/blocks.ts";
import { FormattedText } from "../chat/formatted-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { SubagentLink } from "./subagent-link.tsx";
import { useSubagents } from "./subagents-context.ts";

/** Longer reports are collapsed. */
const maxOpenChars = 600;

interface ReportNoticeProps {
  id: string;
  agency: string;
  agent: string;
  text: string;
}

/** Reports that the agent got from sub-agents which worked in the background. */
export const ReportNotice = memo(function ReportNotice({ id, agency, agent, text }: ReportNoticeProps) {
  const { reports, rest } = parseReports(text) ?? { reports: [], rest: text };
  return (
    <aside className="note" data-note="report" data-message={id}>
      <Icon name="agent" />
      <div>
        {reports.map((report, index) => (
          <Report key={index} agency={agency} agent={agent} report={report} />
        ))}
        {rest.trim() !== "" && <p className="faint">{showControlChars(rest)}</p>}
      </div>
    </aside>
  );
});

function Report({ agency, agent, report }: { agency: string; agent: string; report: DeliveredReport }) {
  const { taskId, agentType, status, text } = report;
  const subagent = useSubagents().find((one) => one.taskId === taskId);
  return (
    <div className="report" data-status={status}>
      <p>
        Report of{" "}
        {subagent ? (
          <SubagentLink agency={agency} agent={agent} subagent={subagent} />
        ) : (
          <span className="mono">{showControlChars(taskId)}</span>
        )}{" "}
        <span className="task-status">
          {showControlChars(agentType)}, {showControlChars(status)}
        </span>
      </p>
      {text.length <= maxOpenChars ? (
        text.trim() !== "" && <FormattedText text={text} />
      ) : (
        <details>
          <summary>Show report</summary>
          <FormattedText text={text} />
        </details>
      )}
    </div>
  );
}
