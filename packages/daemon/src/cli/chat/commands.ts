import { fail, type Mode } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";

/** What a person typed: words for the agent, or a wish to the chat itself. */
export type ChatInput =
  | { kind: "nothing" }
  | { kind: "say"; text: string; mode: Mode }
  | { kind: "do"; name: "help" | "cancel" | "title" | "model" | "stats" | "exit" }
  | { kind: "clear"; sure: boolean };

export const chatHelp = [
  "Enter sends; while a turn runs it queues.",
  "/steer <text>      join the turn that runs",
  "/interrupt <text>  end it and go first",
  "/cancel            cancel it (so does Ctrl+C)",
  "/title  /model  /stats",
  "/clear             make the agent forget the conversation",
  "/exit              leave (so does Ctrl+D); a running turn goes on",
  "//text             send text that begins with a slash",
].join("\n");

const plainCommands = ["help", "cancel", "title", "model", "stats", "exit"] as const;
const commandNames = [...plainCommands, "steer", "interrupt", "clear", "quit"];

export function parseChatInput(line: string): ChatInput {
  const text = line.trim();
  if (text === "") return { kind: "nothing" };
  if (text.startsWith("//")) return { kind: "say", text: text.slice(1), mode: "queue" };
  if (!text.startsWith("/")) return { kind: "say", text, mode: "queue" };
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  if (name === "steer" || name === "interrupt") {
    if (rest === "") throw fail("bad_request", `Say what: /${name} <text>.`);
    return { kind: "say", text: rest, mode: name };
  }
  if (name === "clear") return { kind: "clear", sure: rest === "yes" };
  const known = plainCommands.find((command) => command === (name === "quit" ? "exit" : name));
  if (known) return { kind: "do", name: known };
  const meant = findNearest(name, commandNames);
  throw fail(
    "bad_request",
    `There is no /${name}; ${meant ? `did you mean /${meant}?` : "/help lists what there is."}`,
  );
}
