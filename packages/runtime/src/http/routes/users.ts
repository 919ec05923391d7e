import { endpoints, ownerUser } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { forgetCredentials } from "../authenticate.ts";
import { forgetAgencies } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** The users of the host, for its owner. */
export function addUsersRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listUsers, ({ env, query }) => openUsers(env).list(query));

  route(app, endpoints.addUser, ({ env, body }) => openUsers(env).add(body.name, body.limits ?? {}));

  route(app, endpoints.updateUser, ({ env, params, body }) => openUsers(env).update(params.user, body.limits));

  route(app, endpoints.removeUser, async ({ env, params }) => {
    const forget = () => {
      forgetCredentials(params.user);
      forgetAgencies(params.user);
    };
    forget();
    await openUsers(env).remove(params.user);
    forget();
    return undefined;
  });
}

const openUsers = (env: Env) => env.User.getByName(ownerUser).users;
