import { z } from "zod";
import { scopes } from "./choices.ts";
import { userNameSchema } from "./name-schemas.ts";

export const scopeSchema = z.enum(scopes);

const scopeListSchema = z.array(scopeSchema).min(1).max(scopes.length);

export const tokenSchema = z
  .object({
    id: z.string(),
    kind: z.enum(["token", "login"]),
    name: z.string(),
    user: z.string(),
    scopes: scopeListSchema,
    createdAt: z.string(),
    expiresAt: z.string().optional(),
    lastUsedAt: z.string().optional(),
    current: z.literal(true).optional().meta({ description: "Whether this request uses it." }),
  })
  .meta({ id: "Token", description: "A credential, without its secret." });

export type Token = z.infer<typeof tokenSchema>;

export const tokenListSchema = z.object({ tokens: z.array(tokenSchema) });

export const newTokenSchema = z
  .strictObject({
    name: z.string().min(1).max(100),
    user: userNameSchema.optional(),
    scopes: scopeListSchema.default(["read"]),
    expiresInSeconds: z
      .number()
      .int()
      .min(1)
      .max(10 * 365 * 86_400)
      .optional(),
  })
  .meta({ id: "NewToken" });

export const issuedTokenSchema = tokenSchema
  .extend({ token: z.string().meta({ description: "The secret. Shown only once." }) })
  .meta({ id: "IssuedToken" });

export type IssuedToken = z.infer<typeof issuedTokenSchema>;

export const loginCodeSchema = z
  .object({ code: z.string(), expiresAt: z.string() })
  .meta({ id: "LoginCode", description: "A code that works once. Append it to the dashboard's URL as `/#code=…`." });

export const newLoginCodeSchema = z
  .strictObject({
    user: userNameSchema.optional(),
    scopes: scopeListSchema.optional().meta({ description: "Scopes of the login; by default those of the caller." }),
  })
  .meta({ id: "NewLoginCode" });

export const loginSchema = z.strictObject({ code: z.string().min(1).max(500) });

export const whoSchema = z
  .object({
    user: z.string(),
    scopes: scopeListSchema,
    agency: z.string().meta({ description: "The default agency: what `/agents` means for this user." }),
  })
  .meta({ id: "Who", description: "The user and the scopes of a credential." });

export type Who = z.infer<typeof whoSchema>;

/** The response to a login of the page, which also sets a cookie. */
export const loginResponseSchema = whoSchema
  .extend({
    pageSecret: z.string().meta({ description: "Sent by the page with every request, besides the cookie." }),
  })
  .meta({ id: "Login" });

export type Login = z.infer<typeof loginResponseSchema>;

const maxTicketPathChars = 4096;

export const newTicketSchema = z.strictObject({
  path: z
    .string()
    .max(maxTicketPathChars)
    .regex(/^\/(?!\/)/, "expected a path that starts with /")
    .meta({ description: "The path, with its query, that the ticket opens." }),
});

export const ticketSchema = z
  .object({ ticket: z.string(), expiresAt: z.string() })
  .meta({ id: "Ticket", description: "Opens one path once, as `?ticket=…`: for downloads and images of the page." });
