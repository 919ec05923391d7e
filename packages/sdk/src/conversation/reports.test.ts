import { expect, test } from "vitest";
import { parseReports } from "./reports.ts";

const format = (task: string, text: string, status = "complete") =>
  `<subagent_report task="${task}" type="think" status="${status}">\n${text}\n</subagent_report>`;

test("reports and what follows them are parsed", () => {
  const content = [format("a", "One\n\n<b>two</b>"), format("b", "", "failed"), "Others have finished too."].join("\n");
  expect(parseReports(content)).toEqual({
    reports: [
      { taskId: "a", agentType: "think", status: "complete", text: "One\n\n<b>two</b>" },
      { taskId: "b", agentType: "think", status: "failed", text: "" },
    ],
    rest: "Others have finished too.",
  });
});

test("any other message is none", () => {
  const whole = format("a", "text");
  for (const text of [
    "",
    "Hi",
    ` ${whole}`,
    `Look: ${whole}`,
    whole.slice(0, -1),
    "<subagent_report >\n\n</subagent_report>",
  ])
    expect(parseReports(text)).toBeUndefined();
  // Nothing to backtrack into.
  expect(parseReports(`<subagent_report task="${"a".repeat(1e6)}`)).toBeUndefined();
});
