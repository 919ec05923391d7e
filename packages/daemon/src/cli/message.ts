import { text } from "node:stream/consumers";
import { fail } from "@thinkery/sdk";

const maxMessageChars = 1_000_000;

/** Returns the message: the command line words, or stdin for `-` or no words. */
export async function readMessage(words: string[], maxChars = maxMessageChars): Promise<string> {
  const fromStdin = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (words.length === 0 && process.stdin.isTTY) {
    throw fail("bad_request", "Missing message. Pass it after the target, or pipe it to stdin.");
  }
  const message = fromStdin ? (await text(process.stdin)).replace(/\r?\n$/, "") : words.join(" ");
  return checkMessage(message, maxChars);
}

export function checkMessage(message: string, maxChars = maxMessageChars): string {
  if (message.trim() === "") throw fail("bad_request", "The message is empty.");
  if (message.length > maxChars) {
    throw fail("bad_request", `The message has ${message.length} characters; the maximum is ${maxChars}.`);
  }
  return message;
}
