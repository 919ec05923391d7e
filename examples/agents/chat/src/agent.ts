import { defineAgent, toModelMessages } from "@thinkery/sdk/agent";

export default defineAgent({
  settings: {
    model: { type: "select", label: "Model", options: "$roles", default: "fast" },
    temperature: { type: "number", label: "Temperature", min: 0, max: 2, step: 0.1, default: 0.7 },
    maxSteps: { type: "number", label: "Maximum steps", min: 1, max: 20, step: 1, default: 5 },
    maxOutputTokens: { type: "number", label: "Maximum output tokens", min: 256, max: 8192, step: 1, default: 1024 },
    thinkingBudget: { type: "number", label: "Thinking budget in tokens", min: 0, max: 32_000, step: 1, default: 0 },
    instructions: { type: "text", label: "Instructions", multiline: true, default: "Be brief and friendly." },
  },

  async onMessage(message, ctx) {
    const { settings } = ctx;
    const reply = ctx.reply();
    const messages = toModelMessages(ctx.conversation, message);

    for (let step = 1; step <= settings.maxSteps; step++) {
      let callsTools = false;
      // One response of the model. Tools that it calls are executed, and their results added to `messages`.
      const events = ctx.ai.stream({
        model: settings.model,
        system: settings.instructions,
        messages,
        tools: ctx.tools,
        temperature: settings.temperature,
        maxOutputTokens: settings.maxOutputTokens,
        thinking: { budgetTokens: settings.thinkingBudget },
        signal: ctx.signal,
      });
      for await (const event of events) {
        switch (event.type) {
          case "text":
            void reply.write(event.text);
            break;
          case "thinking":
            void reply.thinking(event.text);
            break;
          case "tool-call":
            callsTools = true;
            void reply.action(event.tool, event.args);
            break;
          case "tool-result":
            void reply.actionComplete();
            break;
          case "finish":
            ctx.log.info(
              `Step ${step}: ${event.usage?.inputTokens ?? 0} tokens in, ${event.usage?.outputTokens ?? 0} out`,
            );
            break;
        }
      }
      if (!callsTools) return reply.end();
      void reply.write("\n\n");
    }

    await reply.write(`I stopped after ${settings.maxSteps} steps. Say “continue” to go on.`);
  },
});
