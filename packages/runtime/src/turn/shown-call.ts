import type { MessageToolCall } from "@thinkery/sdk";
import type { Performance } from "../middleware/pipeline.ts";
import { frozenCopy } from "../store/persisted.ts";

/** A call as middleware sees it: whatever it does to it, the tool has its own. */
export function shownCall({ id, name, input }: MessageToolCall, middleware: Performance): MessageToolCall {
  const isSeen = middleware.has("onToolStart") || middleware.has("onToolResult") || middleware.has("onToolError");
  return isSeen ? Object.freeze({ id, name, input: frozenCopy(input) }) : { id, name, input };
}
