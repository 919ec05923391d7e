import { useCallback, useState } from "react";
import { recall, remember } from "../frame/storage.ts";
import { type ConversationKey, buildStorageKey } from "./outbox.ts";

/** The text being written, persisted across reloads and views. */
export function useDraft(conversation: ConversationKey): [string, (text: string) => void] {
  const key = buildStorageKey("draft", conversation);
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
