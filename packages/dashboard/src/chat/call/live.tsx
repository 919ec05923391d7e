import { useLayoutEffect, useRef } from "react";
import { updateLines, takeLastLines, noLines } from "./live-lines.ts";
import { sanitizeTerminalText } from "./sanitize-text.ts";

const maxLines = 200;
/** This near to its end, a reader means to follow it. */
const followThresholdPx = 24;

/** What a call writes while it goes on. Only lines that are new are read out, and the end stays in sight. */
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
      onScroll={({ currentTarget: at }) =>
        (following.current = at.scrollHeight - at.scrollTop - at.clientHeight < followThresholdPx)
      }
    >
      {takeLastLines(lines.current, maxLines).map(({ number, line }) => (
        <span key={number}>{`${line}\n`}</span>
      ))}
    </pre>
  );
}
