import { Think as ProductThink } from "@thinkery/runtime";
import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";

export { Agency, default, Supervision, User } from "@thinkery/runtime";

const pay = defineTool(
  {
    name: "pay",
    description: "Pays an amount.",
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => {
      if (amount < 0) throw new Error("Cannot tell.");
      return amount > 100;
    },
  },
  ({ amount }) => `Paid ${amount}.`,
);

/** The stock agent with a tool that asks for approval by itself. */
export class Think extends ProductThink {
  protected override getCustomTools(): readonly Tool[] {
    return [pay];
  }
}
