import { useCallback } from "react";
import { FormattedText } from "../chat/formatted-text.tsx";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { splitMentions } from "../team/mentions.ts";
import { useChannels } from "./channels-context.ts";

/** The text of a message with its mentions. Nothing else in it becomes a link. */
export function MentionText({ text }: { text: string }) {
  const { user, agency, agents, names } = useChannels();
  const renderPlain = useCallback(
    (plain: string) =>
      splitMentions(plain, names).map(({ text: piece, name }, index) => {
        if (name === undefined) return piece;
        if (!agents.has(name)) return <Mention key={index} text={piece} isReader={name === user} />;
        return (
          <Link key={index} className="mention" href={buildPath(agency, name)}>
            {piece}
          </Link>
        );
      }),
    [user, agency, agents, names],
  );
  return <FormattedText text={text} renderPlain={renderPlain} />;
}

function Mention({ text, isReader }: { text: string; isReader: boolean }) {
  return (
    <span className="mention" data-you={isReader || undefined}>
      {text}
    </span>
  );
}
