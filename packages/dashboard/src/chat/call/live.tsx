import { useLayoutEffect, useRef } from "react";
import { updateLines, takeLastLines, noLines } from "./live-lines.ts";
import { sanitizeTerminalText } from "./sanitize-text.ts";

const maxLines = 200;
/** Maximum distance from the end at which scrolling follows new output. */
const followThresholdPx = 24;

/** Output of a running call. Screen readers announce only new lines, and the end stays in view. */
export function LiveOutput({ name, text }: { name: string; text: string }) {
  const lines = useRef(noLines);
  const pane = useRef<HTMLPreElement>(null);
  const following = useRef(true);
  lines.current = updateLines(lines.current, sanitizeTerminalText(text));

  useLayoutEffect(() => {
    if (pane.current && following.current) pane.current.scrollTop = pane.current.scrollHeight;
  }, [text]);

  return (
    <pre
      ref={pane}
      className="text call-live"
      role="region"
      aria-label={`Output of ${name} so far`}
      aria-live="polite"
      tabIndex={0}
      dir="ltr"
      onScroll={({ currentTarget: element }) =>
        (following.current = element.scrollHeight - element.scrollTop - element.clientHeight < followThresholdPx)
      }
    >
      {takeLastLines(lines.current, maxLines).map(({ number, line }) => (
        <span key={number}>{`${line}\n`}</span>
      ))}
    </pre>
  );
}
