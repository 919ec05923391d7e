import type { IncomingMessage } from "node:http";

export type FormatName = "chat" | "responses" | "messages" | "google";

/** A request as the provider received it, with its conversation parsed from any format. */
export interface RecordedRequest {
  path: string;
  format: FormatName;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
  bytes: number;
  raw: string;
  model: string;
  /** The last user message. */
  latest: string;
  /** Tool results after the last assistant message. */
  results: { id: string; content: string }[];
}

interface Entry {
  role: "user" | "assistant" | "result";
  id: string;
  content: string;
}

export function detectFormat(path: string): FormatName | undefined {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "messages";
  return path.endsWith(":streamGenerateContent") || path.endsWith(":generateContent") ? "google" : undefined;
}

export async function recordRequest(
  request: IncomingMessage,
  path: string,
  format: FormatName,
): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString();
  const body = JSON.parse(raw) as Record<string, unknown>;
  const entries = parseEntries(format, body as Fields);
  const lastAssistant = entries.findLastIndex(({ role }) => role === "assistant");
  return {
    path,
    format,
    headers: request.headers,
    body,
    raw,
    bytes: Buffer.byteLength(raw),
    model: String(body.model ?? path.match(/models\/([^:]+):/)?.[1] ?? ""),
    latest: entries.findLast(({ role }) => role === "user")?.content ?? "",
    results: entries
      .slice(lastAssistant + 1)
      .filter(({ role }) => role === "result")
      .map(({ id, content }) => ({ id, content })),
  };
}

/** The fields we read, of all formats. */
interface Fields {
  role?: string;
  type?: string;
  text?: string;
  content?: string | Fields[] | null;
  messages?: Fields[];
  tool_call_id?: string;
  input?: Fields[];
  call_id?: string;
  output?: string | Fields[];
  tool_use_id?: string;
  contents?: Fields[];
  parts?: Fields[];
  functionResponse?: { id?: string; response: object };
}

const joinText = (content: Fields["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");

const createEntry = (role: Entry["role"], content: Fields["content"], id = ""): Entry => ({
  role,
  id,
  content: joinText(content),
});

function parseEntries(format: FormatName, body: Fields): Entry[] {
  switch (format) {
    case "chat":
      return (body.messages ?? []).flatMap(({ role, content, tool_call_id: id }) => {
        if (role === "tool") return [createEntry("result", content, id)];
        return role === "user" || role === "assistant" ? [createEntry(role, content)] : [];
      });
    case "responses":
      return (body.input ?? []).map(({ type, role, output, content, call_id: id }) =>
        type === "function_call_output"
          ? createEntry("result", output, id)
          : createEntry(role === "user" ? "user" : "assistant", content),
      );
    case "messages":
      return (body.messages ?? []).flatMap(({ role, content }) => {
        if (role === "assistant" || typeof content === "string")
          return [createEntry(role === "assistant" ? role : "user", content)];
        const results = (content ?? []).filter(({ type }) => type === "tool_result");
        const texts = (content ?? []).filter(({ type }) => type === "text");
        return [
          ...results.map((block) => createEntry("result", block.content, block.tool_use_id)),
          ...(texts.length > 0 ? [createEntry("user", texts)] : []),
        ];
      });
    case "google":
      return (body.contents ?? []).flatMap(({ role, parts = [] }) => {
        if (role === "model") return [createEntry("assistant", parts)];
        return parts.map(({ text, functionResponse: result }) =>
          result ? createEntry("result", JSON.stringify(result.response), result.id) : createEntry("user", text),
        );
      });
  }
}
