import type { AgentCodeInfo } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildTurnPath } from "../frame/navigation.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { DateTime } from "../parts/date-time.tsx";

interface LastErrorProps {
  agency: string;
  agent: string;
  error: NonNullable<AgentCodeInfo["lastError"]>;
}

/** The last error of an agent's code, with its position in the source. */
export function LastError({ agency, agent, error: { at, message, version, runId } }: LastErrorProps) {
  const text = sanitizeText(message);
  return (
    <section aria-labelledby="last-error">
      <div className="section-head">
        <h2 id="last-error">Last error</h2>
        <CopyButton text={text} label="Copy the error" />
      </div>
      <div className="last-error">
        <p className="faint">
          <DateTime at={at} /> in version {version}
          {runId !== undefined && (
            <>
              {" · "}
              <Link href={buildTurnPath(agency, agent, runId)}>Message</Link>
            </>
          )}
        </p>
        <pre className="text" data-tone="bad" tabIndex={0} dir="ltr">
          {text}
        </pre>
      </div>
    </section>
  );
}
