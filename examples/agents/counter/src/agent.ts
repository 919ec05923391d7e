import { defineAgent } from "@thinkery/sdk/agent";

export default defineAgent({
  settings: {
    unit: { type: "select", label: "Count", options: ["messages", "words"], default: "messages" },
    loud: { type: "toggle", label: "Loud", default: false },
  },
  state: { count: 0, versions: 0 },

  onInit(ctx) {
    ctx.setState({ versions: ctx.state.versions + 1 });
    ctx.log.info(`Version ${ctx.state.versions} begins at ${ctx.state.count}.`);
  },

  onEvent(event, ctx) {
    if (event.type === "conversation.cleared") ctx.setState({ count: 0 });
  },

  async onMessage({ content }, ctx) {
    const added = ctx.settings.unit === "words" ? content.split(/\s+/).filter(Boolean).length : 1;
    ctx.setState({ count: ctx.state.count + added });
    const text = `${ctx.state.count} ${ctx.settings.unit} so far.`;
    await ctx.send(ctx.settings.loud ? text.toUpperCase() : text);
  },
});
