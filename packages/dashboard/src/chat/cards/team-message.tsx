import { Link } from "../../frame/link.tsx";
import { buildChannelPath } from "../../frame/navigation.ts";
import { readTextField } from "../call/input.ts";
import { sanitizeText } from "../call/sanitize-text.ts";
import { FormattedText } from "../formatted-text.tsx";

interface TeamMessageProps {
  agency: string;
  /** As a tool returned it: it may have any shape. */
  message: object;
  /** Its channel, if it does not name one. */
  channel?: string | undefined;
}

/** A message of a channel in a card, with a link to it. */
export function TeamMessage({ agency, message, channel: given }: TeamMessageProps) {
  const [id, from, content = ""] = ["id", "from", "content"].map((name) => readTextField(message, name));
  const channel = readTextField(message, "channel") ?? given;
  const status = readTextField(message, "status");
  return (
    <li>
      <p className="call-part">
        {from !== undefined && <strong>{sanitizeText(from)}</strong>} <MessageLink {...{ agency, channel, id }} />
        {status !== undefined && ` · ${sanitizeText(status)}`}
      </p>
      <FormattedText text={content} />
    </li>
  );
}

interface MessageLinkProps {
  agency: string;
  channel: string | undefined;
  id: string | undefined;
}

/** `msg-7`, as a link if its channel is known. Direct channels are named by their readers as `@bob`: not by us. */
export function MessageLink({ agency, channel, id }: MessageLinkProps) {
  if (id === undefined) return null;
  if (channel === undefined || channel.startsWith("@") || channel === "") return <>{sanitizeText(id)}</>;
  return (
    <Link href={buildChannelPath(agency, { channel, message: id })}>
      {sanitizeText(id)} in {sanitizeText(channel)}
    </Link>
  );
}
