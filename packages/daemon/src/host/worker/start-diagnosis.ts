const uncaughtPattern = /^service main: Uncaught (.*)$/;
/** What workerd says of its configuration, which is ours and only follows from the trouble before. */
const remarkPattern = /^(?:workerd\/|service |Socket )/;
const maxLines = 20;

/** Gathers why a Worker cannot run, while main starts with it. */
interface StartDiagnosis {
  /** A line of workerd's. */
  addLine(line: string): void;
  /** Main answered, but not as main does. */
  setWrongAnswer(said: string): void;
  /** In a sentence, as far as anything is known. */
  formatReason(entry: string): string | undefined;
}

export function createStartDiagnosis(): StartDiagnosis {
  const lines: string[] = [];
  let wrongAnswer: string | undefined;

  return {
    addLine(line) {
      const [, first] = uncaughtPattern.exec(line) ?? [];
      // A message may have further lines.
      if (first !== undefined) lines.push(first);
      else if (lines.length > 0 && lines.length < maxLines && !remarkPattern.test(line)) lines.push(line);
    },
    setWrongAnswer(said) {
      wrongAnswer = `${said} when it is asked for /health: its default export has to be the handler of @thinkery/runtime`;
    },
    formatReason(entry) {
      const at = lines.findIndex((line) => /^\s+at /.test(line));
      const message = (at < 0 ? lines : lines.slice(0, at)).join(" ").replace(/\.$/, "");
      const place = at < 0 ? "" : ` (${lines[at]?.trim()})`;
      const what = lines.length > 0 ? `cannot be loaded: ${message}${place}` : wrongAnswer;
      return what && `The Worker ${entry} ${what}.`;
    },
  };
}
