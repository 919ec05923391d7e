const uncaught = /^service main: Uncaught (.*)$/;
/** What workerd says of its configuration, which is ours and only follows from the trouble before. */
const remark = /^(?:workerd\/|service |Socket )/;
const maxLines = 20;

/** Gathers why a Worker cannot run, while main starts with it. */
interface FailedStart {
  /** A line of workerd's. */
  hear(line: string): void;
  /** Main answered, but not as main does. */
  answered(said: string): void;
  /** In a sentence, as far as anything is known. */
  reason(entry: string): string | undefined;
}

export function failedStart(): FailedStart {
  const lines: string[] = [];
  let wrong: string | undefined;

  return {
    hear(line) {
      const [, first] = uncaught.exec(line) ?? [];
      // A message may have further lines.
      if (first !== undefined) lines.push(first);
      else if (lines.length > 0 && lines.length < maxLines && !remark.test(line)) lines.push(line);
    },
    answered(said) {
      wrong = `${said} when it is asked for /health: its default export has to be the handler of @thinkery/runtime`;
    },
    reason(entry) {
      const at = lines.findIndex((line) => /^\s+at /.test(line));
      const message = (at < 0 ? lines : lines.slice(0, at)).join(" ").replace(/\.$/, "");
      const place = at < 0 ? "" : ` (${lines[at]?.trim()})`;
      const what = lines.length > 0 ? `cannot be loaded: ${message}${place}` : wrong;
      return what && `The Worker ${entry} ${what}.`;
    },
  };
}
