import {
  agencyIdSchema,
  type AgentTarget,
  fail,
  isThinkeryError,
  type Job,
  newAgentSchema,
  type NewAgent,
  parseAgentTarget,
} from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { z } from "zod";
import type { Env } from "../objects/env.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import type { System } from "../system/system.ts";
import { validate } from "./body.ts";
import { sha256 } from "./credentials.ts";
import { enterAgency, enterAgent } from "./directory.ts";

const maxAgents = 20;

type AgentRef = Pick<AgentTarget, "agency" | "agent">;

interface JobContext {
  env: Env;
  system: System;
  user: string;
}

/** The agents a job is for. Those it brings itself are made first, in an agency of their own. */
export async function resolveAgents({ env, system, user }: JobContext, job: Job): Promise<AgentRef[]> {
  if (job.agent !== undefined) return [await findAgent(env, user, parseAgentTarget(job.agent))];
  if (typeof job.workflow === "string") {
    throw fail(
      "bad_request",
      "A workflow goes into the body as an object: this host does not read workflow files by name.",
    );
  }
  const wanted = parseNewAgents(job);
  for (const agent of wanted) checkNewAgent(env, system, agent);
  const agency = chooseAgency(user, job);
  await openAgency(env, user, agency);
  await Promise.all(wanted.map((agent) => openAgent(env, user, agency, agent)));
  return wanted.map(({ name }) => ({ agency, agent: name }));
}

/** An agent that is there already; else an error with the name that was probably meant. */
async function findAgent(env: Env, user: string, place: AgentRef): Promise<AgentRef> {
  try {
    await enterAgent(env, user, place.agency, place.agent);
    return { agency: place.agency, agent: place.agent };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const meant = await suggestAgent(env, user, place);
    throw fail(
      "not_found",
      meant ? `${error.message} Did you mean “${meant}”?` : error.message,
      meant ? { suggestion: meant } : undefined,
    );
  }
}

async function suggestAgent(env: Env, user: string, { agency, agent }: AgentRef): Promise<string | undefined> {
  const page = { limit: 500 };
  const { agencies } = await env.User.getByName(user).listAgencies(page);
  if (!agencies.some(({ id }) => id === agency)) {
    const meant = findNearest(
      agency,
      agencies.map(({ id }) => id),
    );
    return meant && `${agent}@${meant}`;
  }
  const { agents } = await env.Agency.getByName(agency).listAgents(page);
  return findNearest(
    agent,
    agents.map(({ name }) => name),
  );
}

type NamedAgent = NewAgent & { name: string };

function parseNewAgents(job: Job): NamedAgent[] {
  const given = typeof job.workflow === "object" ? job.workflow.agents : (job.agents ?? {});
  const where = job.agents ? ["agents"] : ["workflow", "agents"];
  const count = Object.keys(given).length;
  if (count === 0 || count > maxAgents) {
    throw fail("bad_request", `Give 1 to ${maxAgents} agents; there are ${count} under ${where.join(".")}.`, {
      problems: [{ path: where, message: `1 to ${maxAgents} agents` }],
    });
  }
  return Object.entries(given).map(
    ([name, { backend, model, system_prompt: system, tools, max_steps: steps, max_tokens: maxOutputTokens }]) => {
      const props = omitUndefined({
        tools,
        budget: steps === undefined ? undefined : { steps },
        settings: maxOutputTokens === undefined ? undefined : { maxOutputTokens },
      });
      const agent = {
        name,
        ...omitUndefined({ backend, model, system, props: Object.keys(props).length > 0 ? props : undefined }),
      };
      return { ...validate(`agent “${name}”`, newAgentSchema, agent), name };
    },
  );
}

/** The same tag (or key) again is the same agency, with the agents it already has. */
function chooseAgency(user: string, job: Job): string {
  const name = (typeof job.workflow === "object" && job.workflow.name) || "run";
  const tag =
    job.tag ??
    (job.idempotencyKey ? sha256(`${user} ${job.idempotencyKey}`).slice(0, 16) : crypto.randomUUID().slice(0, 8));
  const { id } = validate("name or tag", z.object({ id: agencyIdSchema }), { id: `${name}:${tag}` });
  return id;
}

async function openAgency(env: Env, user: string, agency: string): Promise<void> {
  const enter = () => enterAgency(env, user, agency);
  const create = async () => void (await env.User.getByName(user).createAgency({ id: agency }));
  await enterOrCreate(enter, create);
}

async function openAgent(env: Env, user: string, agency: string, agent: NamedAgent): Promise<void> {
  const enter = () => enterAgent(env, user, agency, agent.name);
  const create = async () => void (await env.Agency.getByName(agency).createAgent(user, agent));
  await enterOrCreate(enter, create);
}

const retryDelaysMs = [0, 10, 20, 40, 80, 160, 320];

/** Two jobs with one tag may both find nothing; the second to create then waits for what the first one makes. */
async function enterOrCreate(enter: () => Promise<void>, create: () => Promise<void>): Promise<void> {
  const tryEnter = () =>
    enter().then(
      () => true,
      (error: unknown) => (isNotFound(error) ? false : Promise.reject(error)),
    );
  if (await tryEnter()) return;
  try {
    await create();
  } catch (taken) {
    if (!isThinkeryError(taken) || taken.code !== "conflict") throw taken;
    for (const ms of retryDelaysMs) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (await tryEnter()) return;
    }
    throw taken;
  }
}

function isNotFound(error: unknown): error is Error {
  return isThinkeryError(error) && error.code === "not_found";
}

function omitUndefined<T extends Record<string, unknown>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
