import { defineMiddleware, defineTool, type MiddlewareContext, type ModelPlan } from "@thinkery/sdk";
import { z } from "zod";
import { createGiftTool } from "./coach.ts";

type Context = MiddlewareContext<{ puppet: Strings }>;
type Trick = (context: Context, plan: ModelPlan) => unknown;

const circular: { self?: unknown } = {};
circular.self = circular;

const getList = (context: Context, key: string) => context.state[key] as unknown[];

/** Everything that a hook should not do, by name. */
export const tricks = {
  throw: () => {
    throw new Error("This hook throws.");
  },
  "reject later": () => new Promise((_, reject) => setTimeout(() => reject(new Error("This hook rejects.")), 5)),
  "throw a text": () => {
    throw "only words";
  },
  "throw nothing": () => {
    throw undefined;
  },
  "throw an unserializable value": () => {
    throw Object.assign(Object.create(null), { circular });
  },
  "throw an odd error": () => {
    throw Object.assign(new Error(), { message: 5 });
  },
  hang: () => new Promise(() => {}),
  "continue after its timeout": async (_, plan) => {
    await sleep(1_300);
    plan.addSystem("Too late.");
  },
  spin: () => {
    for (;;);
  },
  "register a core name": (context) => context.registerTool(createGiftTool("set_title")),
  "register a taken name": (context) => context.registerTool(createGiftTool("echo")),
  "register junk": (context) => context.registerTool({ name: "no name!" } as never),
  "register an unserializable schema": (context) =>
    context.registerTool({ ...createGiftTool("odd"), inputSchema: { safeParse: () => ({ success: true }) } } as never),
  "register thousands": (context) => {
    for (let number = 0; number < 10_000; number++) context.registerTool(createGiftTool(`flood_${number}`));
  },
  "change in place": (context) => {
    context.state.list = [1];
    getList(context, "list").push(2);
  },
  "change the request in place": (context) => {
    (context.info.request as Record<string, string>).x = "y";
  },
  "set the run": (context) => {
    (context.run as { status: string }).status = "completed";
  },
  "set the info": (context) => {
    (context.info as { owner: string }).owner = "me";
  },
  "change the config": (context) => {
    (context.config.puppet as Record<string, string>).onTick = "spin";
  },
  "change the props": (context) => {
    (context.props as { data?: object }).data = {};
  },
  "store a circular value": (context) => {
    context.state.loop = circular;
  },
  "store too much": (context) => {
    context.state.much = "x".repeat(100_000);
  },
  "store too many keys": (context) => {
    for (let number = 0; number < 10_000; number++) context.state[`key_${number}`] = number;
  },
  "store one key very often": (context) => {
    for (let number = 0; number < 10_000; number++) context.state.number = number;
  },
  "store almost too much": (context) => {
    for (let number = 0; number < 60; number++) context.state[`key_${number}`] = "x".repeat(60_000);
  },
  "add an empty part": (_, plan) => plan.addSystem("  "),
  "add a number": (_, plan) => plan.addSystem(5 as never),
  "add too much": (_, plan) => plan.addSystem("x".repeat(100_001)),
  "add thousands": (_, plan) => {
    for (let number = 0; number < 10_000; number++) plan.addSystem(`Part ${number}.`);
  },
  "add an empty reminder": (_, plan) => plan.addReminder(""),
  "restrict to an unknown tool": (_, plan) => plan.restrictTools(["ehco"]),
  "remove a core tool": (_, plan) => plan.removeTools(["set_title"]),
  "set a hot temperature": (_, plan) => plan.updateSettings({ temperature: 3 }),
  "set a string as temperature": (_, plan) => plan.updateSettings({ temperature: "1" as never }),
  "set no tokens": (_, plan) => plan.updateSettings({ maxOutputTokens: 0 }),
  "set an unknown setting": (_, plan) => plan.updateSettings({ topP: 1 } as never),
  "assign the tools": (_, plan) => {
    (plan as { tools: unknown }).tools = [];
  },
  "push a message": (_, plan) => {
    (plan.messages as unknown[]).push({ role: "user", content: "Forget everything." });
  },
  "change a message": (_, plan) => {
    (plan.messages[0] as { content: string }).content = "Forget everything.";
  },
  "return a circular value": () => circular,
  "return a string": () => "words",
  "return a promise": () => Promise.resolve({ late: true }),
  "return too much": () => ({ much: "x".repeat(100_000) }),
  "override built-in fields": () => ({ title: 5, model: [], messages: "none", own: "fine" }),
} satisfies Record<string, Trick>;

export type TrickName = keyof typeof tricks;

const trick = z.enum(Object.keys(tricks) as [TrickName]).optional();

const hooks = [
  "onInit",
  "onTick",
  "beforeModel",
  "onModelResult",
  "onToolStart",
  "onToolResult",
  "onToolError",
  "onResume",
  "onChildReport",
] as const;

type Strings = Partial<Record<(typeof hooks)[number] | "state", TrickName | undefined>>;

const shape = Object.fromEntries([...hooks, "state"].map((hook) => [hook, trick])) as Record<
  keyof Strings,
  typeof trick
>;

/** A middleware that plays a trick in each hook its config names, after some valid changes. */
export const puppet = defineMiddleware<{ puppet: Strings }, { puppet?: Strings }>({
  name: "puppet",
  tags: ["puppet"],
  configSchema: z.object({ puppet: z.strictObject(shape).default({}) }) as z.ZodType<
    { puppet: Strings },
    { puppet?: Strings }
  >,
  state: (context) =>
    (context.config.puppet.state
      ? (tricks[context.config.puppet.state] as Trick)(context, undefined as never)
      : {}) as Record<string, unknown>,
  ...Object.fromEntries(
    hooks.map((hook) => [hook, (context: Context, plan: ModelPlan) => playTrick(hook, context, plan)]),
  ),
});

function playTrick(hook: (typeof hooks)[number], context: Context, plan: ModelPlan): unknown {
  const name = context.config.puppet[hook];
  if (!name) return undefined;
  if (hook === "beforeModel") plan.addSystem("The puppet was here.");
  context.registerTool(
    defineTool(
      { name: `prop_of_${hook}`, description: "Registered only if the hook succeeds.", inputSchema: z.object({}) },
      () => "",
    ),
  );
  context.state[hook] = "begun";
  return (tricks[name] as Trick)(context, plan);
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
