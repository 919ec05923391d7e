import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { Conversation } from "./driver.ts";

/** Opens the stored conversation for a driver. */
export function openConversation({ messages, facts }: AgentStore, blobs: Blobs): Conversation {
  return {
    readAfter: (position) => messages.spoken(position),
    readBlob: (hash) => blobs.get(hash),
    compaction: () => facts.compaction(),
    lastCount() {
      const counted = messages.counted();
      const { at: position = 0, after = 0 } = facts.compaction() ?? {};
      return position > (counted?.position ?? 0) ? { position, input: after, tokens: after } : counted;
    },
  };
}
