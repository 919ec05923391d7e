import { AgentSystem } from "@thinkery/runtime";
import type { Tool } from "@thinkery/sdk";
import { coach } from "./system/coach.ts";
import { inspector, secondInspector } from "./system/inspector.ts";
import { puppet } from "./system/puppet.ts";
import { answersAnyway, clash, echo, later, laterAlone, laterLocally, laterSlowly, ofTheClass, readProps, throws } from "./system/tools.ts";
import { witness } from "./system/witness.ts";

// A Worker of a product's own, with everything an AgentSystem takes.
const system = new AgentSystem({ defaultModel: "scripted:default" })
  .defaults()
  .addTool(echo, ["default", "words"])
  .addTool(throws)
  .addTool(later, ["default"])
  .addTool(laterAlone)
  .addTool(laterSlowly)
  .addTool(laterLocally)
  .addTool(answersAnyway)
  .addTool(readProps, ["reader"])
  .addTool(clash, ["clash"])
  .use(witness("first"))
  .use(puppet)
  .use(witness("second"))
  .use(coach)
  .use(inspector)
  .use(secondInspector)
  .addAgent({ name: "watched", description: "Seen by both witnesses.", tags: ["default", "witness"] })
  .addAgent({ name: "coached", prompt: "You are coached.", tags: ["default", "coach"], config: { coach: { system: "Be kind." } } })
  .export();

export const { Agency, User, Supervision, handler } = system;

export default handler;

/** The class layer, and a look at what is armed. */
export class Think extends system.Think {
  protected override getAdditionalInstructions(): string {
    return "The class was here.";
  }

  protected override getCustomTools(): readonly Tool[] {
    return [ofTheClass];
  }

  override async readState(): ReturnType<InstanceType<typeof system.Think>["readState"]> {
    const { state, run } = await super.readState();
    const armed = await this.listSchedules();
    return { state: { ...state, armed: armed.length }, run };
  }
}
