import { defineAgent, standardSettings, toModelMessages } from "@thinkery/sdk/agent";

export default defineAgent({
  settings: {
    ...standardSettings,
    instructions: { type: "text", label: "Instructions", multiline: true, default: "Be brief and friendly." },
  },

  async onMessage(message, ctx) {
    const reply = ctx.reply();
    const events = ctx.ai.stream({
      system: ctx.settings.instructions,
      messages: toModelMessages(ctx.conversation, message),
      tools: ctx.tools,
      maxSteps: ctx.settings.maxSteps,
      signal: ctx.signal,
    });
    for await (const event of events) {
      if (event.type === "text") await reply.write(event.text);
      if (event.type === "tool-call") await reply.action(event.tool, event.args);
      if (event.type === "tool-result") await reply.actionComplete();
    }
  },
});
