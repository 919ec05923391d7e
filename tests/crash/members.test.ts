import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isThinkeryError, type Scope } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";

// An agency and the objects of its members are changed together. Whatever a crash leaves in between, a change that was
// acknowledged holds: who was removed has no access, and who was added has exactly what was given.

const kills = getRepeatCount("member kills", { sample: 8, full: 60 });
const users = ["u1", "u2", "u3", "u4"];
const choices: (Scope[] | undefined)[] = [undefined, ["read"], ["chat"], ["approve", "read"], ["admin"]];

let host: HostProcess;
let home: string | undefined;

afterAll(async () => {
  await host?.stop();
  if (home) await removeHome(home);
});

/** Repeats a request until the host responds, as a careful client does. */
async function insist<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T | "missing"> {
  for (;;) {
    try {
      return await request(AbortSignal.timeout(5000));
    } catch (error) {
      if (isThinkeryError(error) && error.code === "not_found") return "missing";
      if (isThinkeryError(error) && !["unavailable", "internal"].includes(error.code)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

test(
  `what members may do is what was last acknowledged over ${kills} kills of main`,
  async () => {
    const random = createRandom("members");
    home = await createHomePath();
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "config.jsonc"), '{ "maxFailuresPerMinute": 100000, "sandboxSlots": 0 }');
    host = await startHostProcess({ home });
    const params = { agency: "global" };
    const clients = new Map<string, Client>();
    for (const user of users) {
      const { token } = await host.client.call("createToken", { body: { name: "t", user, scopes: ["admin"] } });
      clients.set(user, createClient({ url: host.url, token }));
    }
    const expected = new Map<string, Scope[] | undefined>();
    let changes = 0;
    let isOver = false;

    async function readAccess(user: string): Promise<readonly Scope[] | undefined> {
      const found = await insist((signal) =>
        (clients.get(user) as Client).call("getAgency", { params: { agency: "global@owner" }, signal }),
      );
      return found === "missing" ? undefined : found.scopes;
    }

    async function change(user: string): Promise<void> {
      while (!isOver) {
        const scopes = choices[random.below(choices.length)];
        const member = { ...params, user };
        if (scopes)
          await insist((signal) => host.client.call("putMember", { params: member, body: { scopes }, signal }));
        else await insist((signal) => host.client.call("deleteMember", { params: member, signal }));
        expected.set(user, scopes);
        changes++;
        expect([user, await readAccess(user)]).toEqual([user, scopes && expandScopes(scopes)]);
      }
    }

    const changing = Promise.all(users.map(change));
    let killed = 0;
    for (let kill = 0; kill < kills; kill++) {
      const before = changes;
      await waitUntil("the next change", () => changes > before);
      await new Promise((resolve) => setTimeout(resolve, random.below(60)));
      const main = await waitUntil("main to run", () => findMain(host.home, killed));
      killed = main.pid;
      process.kill(main.pid, "SIGKILL");
    }
    isOver = true;
    await changing;
    const { members } = await waitUntil("the list", () =>
      host.client.call("listMembers", { params }).catch(() => undefined),
    );
    const listed = members.flatMap((member) =>
      member.kind === "user" && !member.owner ? [[member.name, member.scopes]] : [],
    );
    const wanted = [...expected].flatMap(([user, scopes]) => (scopes ? [[user, toOrder(scopes)]] : []));
    expect(listed.toSorted()).toEqual(wanted.toSorted());
    console.log(`${changes} changes over ${kills} kills`);
  },
  30_000 + kills * 5000,
);

const order: Scope[] = ["read", "chat", "approve", "admin"];
const toOrder = (scopes: readonly Scope[]) => order.filter((scope) => scopes.includes(scope));

/** What the scopes of a member include, as a token with `admin` sees it. */
function expandScopes(scopes: readonly Scope[]): Scope[] {
  if (scopes.includes("admin")) return order;
  return order.filter((scope) => scopes.includes(scope) || (scope === "read" && scopes.includes("chat")));
}
