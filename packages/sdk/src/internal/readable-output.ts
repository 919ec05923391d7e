// oxlint-disable-next-line no-control-regex -- escape sequences begin with one
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;

/** Turns the output of a program into plain text: no colours, no cursor movement, no control characters. */
export function toReadableOutput(text: string): string {
  return text
    .replace(escapeSequences, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\t\n]/gu, "\ufffd");
}
