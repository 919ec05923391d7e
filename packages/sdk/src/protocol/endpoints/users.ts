import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { userNameSchema } from "../name-schemas.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import { listedUserSchema, newUserSchema, userListSchema, userUpdateSchema } from "../user.ts";

/** Endpoints for the users of a host, all for its owner. */
export const userEndpoints = {
  listUsers: defineEndpoint({
    ...routes.listUsers,
    access: "owner",
    summary: "List the users of this host, except its owner.",
    query: pageQuerySchema,
    response: userListSchema,
  }),
  addUser: defineEndpoint({
    ...routes.addUser,
    access: "owner",
    summary: "Add a user with an agency of their own. Creating a token for a new user does the same, without limits.",
    body: newUserSchema,
    status: 201,
    response: listedUserSchema,
  }),
  updateUser: defineEndpoint({
    ...routes.updateUser,
    access: "owner",
    summary: "Change the limits of a user. They apply to what the user starts from then on.",
    params: z.object({ user: userNameSchema }),
    body: userUpdateSchema,
    response: listedUserSchema,
  }),
  removeUser: defineEndpoint({
    ...routes.removeUser,
    access: "owner",
    summary: "Remove a user with all of their agencies and tokens.",
    params: z.object({ user: userNameSchema }),
    status: 204,
  }),
} as const;
