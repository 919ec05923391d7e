const uncaughtPattern = /^service main: Uncaught (.*)$/;
/** workerd's messages about its configuration, which only follow from the preceding error. */
const remarkPattern = /^(?:workerd\/|service |Socket )/;
const maxLines = 20;

/** Collects why a Worker cannot run, while main starts with it. */
interface StartDiagnosis {
  /** Adds a line of workerd's output. */
  addLine(line: string): void;
  /** Records that main's health route gave an unexpected response. */
  setUnexpectedResponse(response: string): void;
  /** Returns the reason as a sentence, or undefined if it is unknown. */
  formatReason(entry: string): string | undefined;
}

export function createStartDiagnosis(): StartDiagnosis {
  const lines: string[] = [];
  let unexpected: string | undefined;

  return {
    addLine(line) {
      const [, first] = uncaughtPattern.exec(line) ?? [];
      // A message may span several lines.
      if (first !== undefined) lines.push(first);
      else if (lines.length > 0 && lines.length < maxLines && !remarkPattern.test(line)) lines.push(line);
    },
    setUnexpectedResponse(response) {
      unexpected = `${response} to GET /health: its default export must be the handler of @thinkery/runtime`;
    },
    formatReason(entry) {
      const stackIndex = lines.findIndex((line) => /^\s+at /.test(line));
      const message = (stackIndex < 0 ? lines : lines.slice(0, stackIndex)).join(" ").replace(/\.$/, "");
      const location = stackIndex < 0 ? "" : ` (${lines[stackIndex]?.trim()})`;
      const issue = lines.length > 0 ? `failed to load: ${message}${location}` : unexpected;
      return issue && `The Worker ${entry} ${issue}.`;
    },
  };
}
