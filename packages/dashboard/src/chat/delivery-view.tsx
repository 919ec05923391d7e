import type { DeliveredMessage } from "@thinkery/sdk";
import { getRootAgent } from "../api/agent-path.ts";
import { useLogin } from "../api/login.ts";
import { Link } from "../frame/link.tsx";
import { buildChannelPath } from "../frame/navigation.ts";
import { Icon } from "../parts/icon.tsx";
import { FormattedText } from "./formatted-text.tsx";

interface DeliveryViewProps {
  agency: string;
  /** Who got the messages. */
  agent: string;
  messages: readonly DeliveredMessage[];
}

/** Messages of channels that the agent got as one turn, each with a link to where it is from. */
export function DeliveryView({ agency, agent, messages }: DeliveryViewProps) {
  const login = useLogin();
  const reader = login.state === "in" ? login.who.user : undefined;
  return (
    <div className="delivery">
      {messages.map((message) => {
        const { id, from, channel, thread, content } = message;
        const isDirect = channel.startsWith("@");
        const place = {
          channel: isDirect ? nameDirectChannel(from, getRootAgent(agent), reader) : channel,
          message: id,
          ...(thread === undefined ? {} : { thread }),
        };
        return (
          <div key={id}>
            <p className="delivery-origin">
              {/* A single sender is named above it. */}
              {messages.length > 1 && <strong>{from}</strong>}
              <Link href={buildChannelPath(agency, place)}>
                <Icon name={isDirect ? "person" : "channel"} />
                {isDirect ? "in a direct message" : channel}
                {thread !== undefined && ", in a thread"}
              </Link>
            </p>
            <FormattedText text={content} />
          </div>
        );
      })}
    </div>
  );
}

/** “bob”, “bob and eve”, “bob and 2 others”. */
export function listSenders(messages: readonly DeliveredMessage[]): string {
  const [first = "", ...others] = new Set(messages.map(({ from }) => from));
  if (others.length === 0) return first;
  return others.length === 1 ? `${first} and ${others[0]}` : `${first} and ${others.length} others`;
}

/** The reader’s own direct channel with the agent, or that of two agents, as their host names it. */
function nameDirectChannel(from: string, agent: string, reader: string | undefined): string {
  if (from === reader) return `@${agent}`;
  return [from.toLowerCase(), agent.toLowerCase()].sort().join("+");
}
