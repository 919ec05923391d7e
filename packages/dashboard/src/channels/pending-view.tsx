import { isUnreachable, type PendingMessage } from "../api/team/message-outbox.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { useChannels } from "./channels-context.ts";
import { MentionText } from "./message-text.tsx";
import { postMessage } from "./post-message.ts";

interface PendingViewProps {
  pending: PendingMessage;
  channel: string;
  thread: string | undefined;
  canWrite: boolean;
}

/** A message that is being sent, or could not be. */
export function PendingView({ pending: { key, input, error }, channel, thread, canWrite }: PendingViewProps) {
  const { team } = useChannels();
  const outbox = team.getOutbox(channel, thread);
  return (
    <article className="message" data-first data-pending={error ? "failed" : "sending"} aria-label="Your message">
      <h3 className="message-author">
        You <span className="faint">{error ? "not sent" : "sending…"}</span>
      </h3>
      <div className="message-body">
        <MentionText text={input.content} />
        {error && (
          <div className="message-failure" role="alert">
            <p>
              {sanitizeText(error.message)}
              {isUnreachable(error) && " It will be sent when the host is back."}
            </p>
            {canWrite && (
              <p className="task-actions">
                <button
                  type="button"
                  className="text-button"
                  onClick={() => void postMessage(team, { channel, thread }, input, key)}
                >
                  Send again
                </button>
                <button type="button" className="text-button" onClick={() => outbox.discard(key)}>
                  Discard
                </button>
              </p>
            )}
          </div>
        )}
      </div>
    </article>
  );
}
