import type { Scope } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { Env } from "../objects/env.ts";
import { forgetAgencies, forgetAgency, forgetMember, narrowCaller } from "./directory.ts";

interface Answers {
  /** What the user's own object says. */
  granted?: Scope[] | undefined;
  /** What the agency says. */
  listed?: Scope[] | undefined | Promise<Scope[] | undefined>;
}

/** An environment whose objects answer like that, and count how often they are asked. */
function createEnv(answers: Answers) {
  const asked = { users: 0, agencies: 0 };
  const env = {
    User: {
      getByName: () => ({
        shared: {
          getScopes: async () => {
            asked.users++;
            return answers.granted;
          },
        },
      }),
    },
    Agency: {
      getByName: () => ({
        members: {
          getScopes: async () => {
            asked.agencies++;
            return answers.listed;
          },
        },
      }),
    },
  } as unknown as Env;
  return { env, asked };
}

let agencyCount = 0;
const newAgency = () => `team-${++agencyCount}@bob`;
const enter = (env: Env, agency: string, scopes: Scope[] = ["admin"]) =>
  narrowCaller(env, { user: "ann", scopes, via: "header" }, agency);

test("a member has the scopes that token, user and agency all give", async () => {
  for (const [token, granted, listed, expected] of [
    [["admin"], ["chat"], ["chat"], ["read", "chat"]],
    [["admin"], ["admin"], ["read"], ["read"]],
    [["read"], ["admin"], ["admin"], ["read"]],
    [["approve"], ["chat"], ["chat"], []],
    [
      ["chat", "approve"],
      ["read", "approve"],
      ["read", "approve"],
      ["read", "approve"],
    ],
  ] as [Scope[], Scope[], Scope[], Scope[]][]) {
    const { env } = createEnv({ granted, listed });
    expect(await enter(env, newAgency(), token)).toMatchObject({ user: "ann", scopes: expected, isMember: true });
  }
});

test("nothing of an agency is asked for users who are no members, and one's own needs no membership", async () => {
  const { env, asked } = createEnv({ listed: ["admin"] });
  await expect(enter(env, "team@bob")).rejects.toMatchObject({
    code: "not_found",
    message: "Agency “team@bob” not found.",
  });
  expect(asked).toEqual({ users: 1, agencies: 0 });
  for (const own of ["team", "team@ann"])
    expect(await enter(env, own)).toEqual({ user: "ann", scopes: ["admin"], via: "header" });
  expect(asked).toEqual({ users: 1, agencies: 0 });
});

test("a user who is only listed, or only granted, is no member", async () => {
  for (const answers of [{ listed: ["admin"] }, { granted: ["admin"] }] as Answers[]) {
    await expect(enter(createEnv(answers).env, newAgency())).rejects.toMatchObject({ code: "not_found" });
  }
});

test("memberships are cached until they are forgotten, with their member, agency or owner", async () => {
  const answers: Answers = { granted: ["chat"], listed: ["chat"] };
  const { env, asked } = createEnv(answers);
  const agency = newAgency();
  const id = agency.slice(0, -"@bob".length);
  const forgets = [
    () => forgetMember("bob", id, "ann"),
    () => forgetAgency("bob", id),
    () => forgetAgencies("bob"),
    () => forgetAgencies("ann"),
  ];
  for (const [round, forget] of forgets.entries()) {
    await enter(env, agency);
    await enter(env, agency);
    expect(asked.agencies).toBe(round + 1);
    forgetMember("bob", id, "somebody");
    forgetAgency("bob", "other");
    await enter(env, agency);
    expect(asked.agencies).toBe(round + 1);
    forget();
  }
  answers.granted = undefined;
  await expect(enter(env, agency)).rejects.toMatchObject({ code: "not_found" });
});

test("what was asked before a removal is not remembered after it", async () => {
  let answer: (scopes: Scope[]) => void = () => {};
  const answers: Answers = { granted: ["chat"], listed: new Promise<Scope[]>((resolve) => (answer = resolve)) };
  const { env } = createEnv(answers);
  const agency = newAgency();
  const entering = enter(env, agency);
  await new Promise((resolve) => setImmediate(resolve));
  forgetMember("bob", agency.split("@")[0] ?? "", "ann");
  answer(["chat"]);
  await entering;
  answers.granted = undefined;
  await expect(enter(env, agency)).rejects.toMatchObject({ code: "not_found" });
});
