import type { LogLevel } from "@thinkery/sdk";
import type { AgentParams } from "../api/agent-code.ts";
import { pollWhileVisible } from "../api/follow.ts";
import { call } from "../api/host.ts";
import { createSource, type Source } from "../api/source.ts";
import { addLines, type LogBuffer } from "./log-buffer.ts";

const pollIntervalMs = 1000;
const pageSize = 500;
/** Pages that are read at once if an agent logs more than one per interval. */
const maxPages = 4;

/** The latest lines of an agent's log, of one level or all. */
export function createLogSource(params: AgentParams, level: LogLevel | undefined): Source<LogBuffer> {
  let buffer: LogBuffer | undefined;
  return createSource(async () => {
    for (let page = 1; ; page++) {
      const query = { limit: pageSize, ...(buffer ? { after: buffer.last } : {}), ...(level ? { level } : {}) };
      const read = await call("listAgentLogs", { params, query });
      const isLast = buffer === undefined || read.logs.length < pageSize || page === maxPages;
      buffer = addLines(buffer, read);
      if (isLast) return buffer;
    }
  }, pollWhileVisible(pollIntervalMs));
}
