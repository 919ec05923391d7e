import { useEffect, useState } from "react";
import { useStore } from "../api/store.ts";
import { blank, type Conversation } from "./conversation.ts";
import { type Line, type OpenTalk, openTalk } from "./open-talk.ts";
import type { Pair } from "./outbox.ts";

const silent = { get: () => blank, subscribe: () => () => {} };
const connecting: Line = { state: "connecting" };
const unopened = { get: () => connecting, subscribe: () => () => {} };

/** The conversation with an agent, for as long as somebody looks at it. */
export function useTalk({ user, agency, agent }: Pair): { talk: OpenTalk | undefined; conversation: Conversation; line: Line } {
  const [talk, setTalk] = useState<OpenTalk>();
  useEffect(() => {
    const opened = openTalk({ user, agency, agent });
    setTalk(opened);
    return () => opened.close();
  }, [user, agency, agent]);
  return { talk, conversation: useStore(talk?.conversation ?? silent), line: useStore(talk?.line ?? unopened) };
}
