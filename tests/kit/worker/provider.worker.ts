import { AgentSystem, type Model, ModelError, type ModelProvider } from "@thinkery/runtime";

/** A provider whose models repeat the last message. */
const parrot: ModelProvider = {
  name: "parrot",
  open(name) {
    if (name !== "loud" && name !== "quiet")
      throw new ModelError("refused", `No parrot is called ${name}.`, {
        retryable: false,
        advice: "Take loud or quiet.",
      });
    const model: Model = {
      id: `parrot:${name}`,
      async *stream({ messages }) {
        const last = messages.at(-1);
        const message = last?.role === "user" && typeof last.content === "string" ? last.content : "";
        yield [{ type: "text", text: name === "loud" ? message.toUpperCase() : message }];
        yield [{ type: "finish", reason: "stop", usage: { inputTokens: 10, outputTokens: 5 } }];
      },
    };
    return model;
  },
  getCost: (_id, { inputTokens }) => inputTokens / 100,
};

export const { Think, Agency, User, Supervision, handler } = new AgentSystem({
  defaultModel: "parrot:loud",
  provider: parrot,
  handlerOptions: { secret: "a-secret-of-the-workers-own-that-nobody-guesses" },
})
  .defaults()
  .export();

export default handler;
