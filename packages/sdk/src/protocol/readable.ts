// oxlint-disable-next-line no-control-regex -- what terminals act on begins with one
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;

/** What a program wrote, as it is read and not as a terminal would act on it: no colours, no movements, no NUL. */
export function readable(text: string): string {
  return text
    .replace(sequences, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\t\n]/gu, "\ufffd");
}
