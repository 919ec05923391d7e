import type { Conversation } from "../drivers/driver.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";

/** The conversation as it is stored, for whoever tells a model of it. */
export function conversationOf({ messages, facts }: AgentStore, blobs: Blobs): Conversation {
  return {
    spoken: (after) => messages.spoken(after),
    readBlob: (hash) => blobs.get(hash),
    compaction: () => facts.compaction(),
    counted() {
      const counted = messages.counted();
      const { at: position = 0, after = 0 } = facts.compaction() ?? {};
      return position > (counted?.position ?? 0) ? { position, input: after, tokens: after } : counted;
    },
  };
}
