import { type AgentStorage, defineAgent } from "@thinkery/sdk/agent";

interface Note {
  text: string;
  savedAt: string;
}

export default defineAgent({
  // Other agents call them as knowledge__search and knowledge__save.
  tools: {
    search: {
      description: "Searches the notes of the team. Returns those with most of the words, best first.",
      parameters: {
        query: { type: "string", description: "Words to look for." },
        limit: { type: "integer", minimum: 1, maximum: 20, optional: true },
      },
      execute: ({ query, limit = 5 }: { query: string; limit?: number }, { storage }) =>
        searchNotes(storage, query, limit),
    },
    save: {
      description: "Saves a note for the team.",
      parameters: { text: { type: "string", description: "The note." } },
      async execute({ text }: { text: string }, { storage }) {
        return { id: await saveNote(storage, text) };
      },
    },
  },

  /** A message is a note to remember, or a question after “?”. */
  async onMessage({ content }, ctx) {
    if (!content.startsWith("?")) {
      await saveNote(ctx.storage, content);
      return ctx.send("Noted.");
    }
    const found = await searchNotes(ctx.storage, content.slice(1), 5);
    await ctx.send(found.length > 0 ? found.map(({ text }) => `- ${text}`).join("\n") : "I know nothing about that.");
  },
});

async function saveNote(storage: AgentStorage, text: string): Promise<string> {
  // Ids sort by time.
  const savedAt = new Date().toISOString();
  const id = `${savedAt} ${crypto.randomUUID().slice(0, 8)}`;
  await storage.set(`note/${id}`, { text, savedAt } satisfies Note);
  return id;
}

async function searchNotes(storage: AgentStorage, query: string, limit: number): Promise<Note[]> {
  const words = new Set(splitWords(query));
  const found: { note: Note; hits: number }[] = [];
  for (let after: string | undefined; ;) {
    const { entries, next } = await storage.list({ prefix: "note/", ...(after ? { after } : {}) });
    for (const { key } of entries) {
      const note = await storage.get<Note>(key);
      if (!note) continue;
      const hits = splitWords(note.text).filter((word) => words.has(word)).length;
      if (hits > 0) found.push({ note, hits });
    }
    if (next === undefined) break;
    after = next;
  }
  return found
    .toSorted((a, b) => b.hits - a.hits)
    .slice(0, limit)
    .map(({ note }) => note);
}

const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
