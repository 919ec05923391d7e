import type { ChannelMessage } from "@thinkery/sdk";
import { toOneLine } from "../conversation/lines.ts";
import { formatWhen } from "../format-when.ts";
import { type Output, sanitize } from "../output.ts";

interface MessageFormat {
  output: Pick<Output, "bold" | "dim">;
  /** What is typed after the command that gets a resource, such as ` -a @review`. */
  agencyFlag: string;
  now: number;
  timeZone?: string;
}

/** Formats a message of a channel: who wrote to whom and when, then its text, indented. */
export function formatChannelMessage(message: ChannelMessage, format: MessageFormat): string {
  const { id, from, to, createdAt, content, resource, size } = message;
  const { output, agencyFlag, now, timeZone } = format;
  const people = [output.bold(clean(from)), ...(to.length > 0 ? [`→ ${to.map(clean).join(", ")}`] : [])].join(" ");
  const marks = [formatWhen(createdAt, now, timeZone), clean(id), ...listMarks(message)].join(" · ");
  const lines = sanitize(content).replace(/\n+$/, "").split("\n");
  const note = `… ${size ?? "all"} characters in full: thinkery resource get ${clean(resource ?? "")}${agencyFlag}`;
  return [
    `${people}  ${output.dim(marks)}`,
    ...lines.map((line) => `  ${line}`.trimEnd()),
    ...(resource === undefined ? [] : [`  ${output.dim(note)}`]),
  ].join("\n");
}

/** Formats a message in one line. */
export function formatChannelLine({ channel, from, to, content }: ChannelMessage, width: number): string {
  const recipients = to.length > 0 ? ` → ${to.join(", ")}` : "";
  return toOneLine(`#${channel}  ${from}${recipients}: ${content}`, width);
}

function listMarks({ fromKind, thread, replies, priority }: ChannelMessage): string[] {
  return [
    ...(fromKind === "host" ? ["notice of the host"] : []),
    ...(thread === undefined ? [] : [`in thread ${clean(thread)}`]),
    ...(replies === undefined ? [] : [`${replies} ${replies === 1 ? "reply" : "replies"}`]),
    ...(priority === undefined || priority === "normal" ? [] : [`${priority} priority`]),
  ];
}

const clean = (text: string) => toOneLine(text, 140);
