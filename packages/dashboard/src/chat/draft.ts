import { useCallback, useState } from "react";
import { recall, remember } from "../frame/storage.ts";
import { type ConversationKey, buildStorageKey } from "./outbox.ts";

/** What is being written, kept over reloads and other views. */
export function useDraft(pair: ConversationKey): [string, (text: string) => void] {
  const key = buildStorageKey("draft", pair);
  const [text, setText] = useState(() => recall(key) ?? "");
  const write = useCallback(
    (next: string) => {
      setText(next);
      remember(key, next || undefined);
    },
    [key],
  );
  return [text, write];
}
