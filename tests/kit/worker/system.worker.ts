import { AgentSystem } from "@thinkery/runtime";
import type { Tool } from "@thinkery/sdk";
import { coach } from "./system/coach.ts";
import { inspector, secondInspector } from "./system/inspector.ts";
import { puppet } from "./system/puppet.ts";
import {
  answersAnyway,
  clash,
  echo,
  later,
  laterAlone,
  laterLocally,
  laterSlowly,
  ofTheClass,
  readProps,
  throws,
} from "./system/tools.ts";
import { createWitness } from "./system/witness.ts";

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
  .use(createWitness("first"))
  .use(puppet)
  .use(createWitness("second"))
  .use(coach)
  .use(inspector)
  .use(secondInspector)
  .addAgent({ name: "watched", description: "Seen by both witnesses.", tags: ["default", "witness"] })
  .addAgent({
    name: "coached",
    prompt: "You are coached.",
    tags: ["default", "coach"],
    config: { coach: { system: "Be kind." } },
  })
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

  /** Its state also says how many schedules are armed. */
  override get conversation(): ReturnType<typeof watch> {
    return watch(super.conversation, async () => (await this.listSchedules()).length);
  }
}

type Conversation = InstanceType<typeof system.Think>["conversation"];

/** Only what is on a prototype can be called over RPC. */
function watch(conversation: Conversation, countArmed: () => Promise<number>): Conversation {
  if (Object.hasOwn(conversation, "isWatched")) return conversation;
  const api = Object.getPrototypeOf(conversation) as Conversation;
  const state = async () => {
    const read = await api.getState.call(conversation);
    return { ...read, state: { ...read.state, armed: await countArmed() } };
  };
  Object.setPrototypeOf(conversation, Object.create(api, { getState: { value: state } }));
  return Object.defineProperty(conversation, "isWatched", { value: true });
}
