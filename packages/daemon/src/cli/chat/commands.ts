import { fail, type Mode } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";

/** A parsed line: a message for the agent, or a command for the chat. */
export type ChatInput =
  | { kind: "empty" }
  | { kind: "message"; text: string; mode: Mode }
  | { kind: "command"; name: "help" | "cancel" | "title" | "model" | "stats" | "exit" }
  | { kind: "clear"; isConfirmed: boolean };

export const chatHelp = [
  "Enter sends a message; during a running turn it is queued.",
  "/steer <text>      add a message to the running turn",
  "/interrupt <text>  cancel the running turn and send a message",
  "/cancel            cancel the running turn (also Ctrl+C)",
  "When the agent asks for an approval or an answer, Enter sends it; commands still work.",
  "/title  /model  /stats",
  "/clear             clear the conversation",
  "/exit              quit (also Ctrl+D); a running turn continues",
  "//text             send text that starts with a slash",
].join("\n");

const plainCommands = ["help", "cancel", "title", "model", "stats", "exit"] as const;
const commandNames = [...plainCommands, "steer", "interrupt", "clear", "quit"];

export function parseChatInput(line: string): ChatInput {
  const text = line.trim();
  if (text === "") return { kind: "empty" };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1), mode: "queue" };
  if (!text.startsWith("/")) return { kind: "message", text, mode: "queue" };
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  if (name === "steer" || name === "interrupt") {
    if (rest === "") throw fail("bad_request", `Missing text: /${name} <text>.`);
    return { kind: "message", text: rest, mode: name };
  }
  if (name === "clear") return { kind: "clear", isConfirmed: rest === "yes" };
  const known = plainCommands.find((command) => command === (name === "quit" ? "exit" : name));
  if (known) return { kind: "command", name: known };
  const suggestion = findNearest(name, commandNames);
  throw fail(
    "bad_request",
    `Unknown command /${name}. ${suggestion ? `Did you mean /${suggestion}?` : "Type /help for a list."}`,
  );
}
