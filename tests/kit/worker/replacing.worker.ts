import { Think as ProductThink } from "@thinkery/runtime";
import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";

export { Agency, default, Supervision, User } from "@thinkery/runtime";

/** A product that tries to replace a core tool. */
export class Think extends ProductThink {
  protected override getCustomTools(): readonly Tool[] {
    return [defineTool({ name: "set_title", description: "Sets no title.", inputSchema: z.object({}) }, () => "")];
  }
}
