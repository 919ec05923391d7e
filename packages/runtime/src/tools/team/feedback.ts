import { defineTool, newFeedbackSchema } from "@thinkery/sdk";

export const feedback = defineTool(
  {
    name: "feedback",
    description: "Tell the people who run your team what works badly or well. Rating: 1 (bad) to 5.",
    inputSchema: newFeedbackSchema.omit({ idempotencyKey: true }),
    action: "tell",
    idempotent: true,
    onDemand: "team",
  },
  async ({ message, rating }, { team }) => {
    const { id } = await team.leaveFeedback({ message, ...(rating === undefined ? {} : { rating }) });
    return { id };
  },
);
