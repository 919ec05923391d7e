import type { Message } from "@thinkery/sdk";
import { defineAgent } from "@thinkery/sdk/agent";

// A user agent that does everything whose effects must survive a crash, and what it has to say when nothing crashes.

type Definition = Parameters<typeof defineAgent<{ bell: { type: "text"; default: string } }, DurableState>>[0];

interface DurableState {
  begun: number;
  ended: number;
  last?: string;
}

/** What an agent does for a message, by the last word of it. */
export const kinds: Record<string, readonly Step[]> = {
  talk: ["say", "say"],
  once: ["say", "ring", "say"],
  again: ["ring_again"],
  ask: ["ask", "say", "ring_again"],
  stream: ["stream", "ring", "stream"],
  shell: ["say", "bash", "say"],
  title: ["title", "say", "title"],
  file: ["file", "say"],
  many: ["together", "say", "ask", "file"],
};

type Step = "say" | "ring" | "ring_again" | "together" | "ask" | "stream" | "bash" | "file" | "title";

/**
 * The state and the storage are changed at the beginning and at the end of a turn, and again and again meanwhile. What it
 * writes depends only on the message and on whether outcomes of calls are unknown.
 */
export const durableAgent = (bell: string): Definition => ({
  settings: { bell: { type: "text", default: bell } },
  state: { begun: 0, ended: 0 },
  async onMessage(message, ctx) {
    const [id = "", , list = ""] = message.content.split(" ");
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const increase = async (key: string) => {
      ctx.setState({ [key]: Number(ctx.state[key as "begun"]) + 1, last: id });
      await ctx.storage.set(key, Number((await ctx.storage.get(key)) ?? 0) + 1);
      await ctx.storage.set("last", id);
    };
    const orUnknown = async (call: Promise<unknown>) => {
      try {
        return String(await call);
      } catch (error) {
        if (!String(error).includes("unknown")) throw error;
        return "(unknown)";
      }
    };
    const reply = ctx.reply();
    const ring = (tool: string) => orUnknown(ctx.tools.execute(tool, { bell: ctx.settings.bell, id }));
    const steps: Record<string, (index: number) => unknown> = {
      async say() {
        for (const word of ["one", "two", "three", "four", "five", "six"]) {
          void reply.write(`${word} `);
          await pause(4);
        }
        return "said";
      },
      ring: () => ring("ring"),
      ring_again: () => ring("ring_again"),
      together: async () => (await Promise.all([ring("ring"), ring("ring_again")])).join(" and "),
      ask: (index) => ctx.ai.generate(`${id} ${index}`),
      async stream(index) {
        for await (const part of ctx.ai.stream({ prompt: `${id} ${index}` }))
          if (part.type === "text") void reply.write(part.text);
        return "streamed";
      },
      title: () => ctx.tools.execute("set_title", { title: id }),
      bash: () => orUnknown(ctx.tools.execute("bash", { command: `echo ${id} >> log.txt; echo ${id}` })),
      file: () => orUnknown(ctx.fs.writeFile(`${id}.txt`, id).then(() => "written")),
    };
    await increase("begun");
    for (const [index, step] of list.split("+").entries()) {
      void reply.write(`[${step}: `);
      ctx.setState({ last: `${id} ${index}` });
      void reply.write(`${String(await steps[step]?.(index))}] `);
    }
    ctx.log.info(`${id} is done`);
    await increase("ended");
    await reply.write("Done.");
  },
});

/** The message that has the agent take these steps. */
export const createMessage = (id: string, kind: string): string => `${id} ${kind} ${kinds[kind]?.join("+")}`;

export const answerPrompt = (prompt: string): string[] => ["The ", "answer ", `to ${prompt}`];

/** The text of a turn, given which of its calls have an unknown outcome: tools by name, and `writeFile`. */
export function expectText(message: string, unknown: ReadonlySet<string>): string {
  const [id = "", kind = ""] = message.split(" ");
  const orUnknown = (name: string, text: string) => (unknown.has(name) ? "(unknown)" : text);
  const rang = (tool: string) => orUnknown(tool, `rang ${id}`);
  const toText: Record<Step, (index: number) => string> = {
    say: () => "one two three four five six said",
    ring: () => rang("ring"),
    ring_again: () => rang("ring_again"),
    together: () => `${rang("ring")} and ${rang("ring_again")}`,
    ask: (index) => answerPrompt(`${id} ${index}`).join(""),
    stream: (index) => `${answerPrompt(`${id} ${index}`).join("")}streamed`,
    title: () => `Set the title to “${id}”.`,
    bash: () => orUnknown("bash", id),
    file: () => orUnknown("writeFile", "written"),
  };
  return `${(kinds[kind] ?? []).map((step, index) => `[${step}: ${toText[step](index)}] `).join("")}Done.`;
}

/** Whether a tool's result says that nobody knows whether it took effect. */
export const isUnknown = ({ toolResult, content }: Message): boolean =>
  toolResult?.failed === true && content.includes("unknown");
