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

// A product's Worker that uses everything an AgentSystem accepts.
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

/** The class layer; its state also counts the scheduled alarms. */
export class Think extends system.Think {
  protected override getAdditionalInstructions(): string {
    return "The class was here.";
  }

  protected override getCustomTools(): readonly Tool[] {
    return [ofTheClass];
  }

  override get conversation(): ReturnType<typeof addArmedCount> {
    return addArmedCount(super.conversation, async () => (await this.listSchedules()).length);
  }
}

type Conversation = InstanceType<typeof system.Think>["conversation"];

/** Adds the count to the state, on a prototype: RPC calls only what is on a prototype. */
function addArmedCount(conversation: Conversation, countArmed: () => Promise<number>): Conversation {
  if (Object.hasOwn(conversation, "hasArmedCount")) return conversation;
  const api = Object.getPrototypeOf(conversation) as Conversation;
  const getState = async () => {
    const result = await api.getState.call(conversation);
    return { ...result, state: { ...result.state, armed: await countArmed() } };
  };
  Object.setPrototypeOf(conversation, Object.create(api, { getState: { value: getState } }));
  return Object.defineProperty(conversation, "hasArmedCount", { value: true });
}
