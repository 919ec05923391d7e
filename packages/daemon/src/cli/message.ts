import { text } from "node:stream/consumers";
import { fail } from "@thinkery/sdk";

const maxMessageChars = 1_000_000;

/** What is to be said: the words of the command line, or stdin for `-` and for none. */
export async function readMessage(words: string[]): Promise<string> {
  const fromStdin = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (words.length === 0 && process.stdin.isTTY) {
    throw fail("bad_request", "A message is missing; write it behind the target, or pipe it in.");
  }
  const message = fromStdin ? (await text(process.stdin)).replace(/\r?\n$/, "") : words.join(" ");
  return checkMessage(message);
}

export function checkMessage(message: string): string {
  if (message.trim() === "") throw fail("bad_request", "The message is empty; say something.");
  if (message.length > maxMessageChars) {
    throw fail("bad_request", `The message has ${message.length} characters; it may have ${maxMessageChars}.`);
  }
  return message;
}
