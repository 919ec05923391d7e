import { z } from "zod";

const portRule = "expected a whole number from 1 to 65535";
const hostRule = "expected an address to listen on, for example 127.0.0.1";
const slotsRule = "expected a whole number from 0 to 16";
const failuresRule = "expected a whole number, 1 or more";
const hostNameRule = "expected a host name without scheme or port, for example thinkery.example.org";
const originRule = "expected an origin, for example https://thinkery.example.org";

const hostNames = z.array(z.string(hostNameRule).regex(/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/, hostNameRule), {
  error: "expected a list of host names",
});

const origins = z.array(z.string(originRule).refine(isOrigin, originRule), { error: "expected a list of origins" });

/** What a person may write in `config.jsonc` and `thinkery.jsonc`. */
export const configSchema = z
  .strictObject(
    {
      $schema: z
        .string("expected the address of a JSON schema")
        .optional()
        .meta({ description: "Where an editor finds this schema; `thinkery config schema` prints it." }),
      port: z
        .int(portRule)
        .min(1, portRule)
        .max(65535, portRule)
        .optional()
        .meta({ description: "The port to listen on. Without it 5099, or the next free one." }),
      host: z
        .string(hostRule)
        .min(1, hostRule)
        .max(255, hostRule)
        .regex(/^\S+$/, hostRule)
        .optional()
        .meta({
          description:
            "The address to listen on, 127.0.0.1 by default. One that others can reach needs THINKERY_TOKEN in the environment.",
        }),
      sandboxSlots: z
        .int(slotsRule)
        .min(0, slotsRule)
        .max(16, slotsRule)
        .default(2)
        .meta({ description: "How many sandbox processes run untrusted code side by side." }),
      failuresPerMinute: z
        .int(failuresRule)
        .min(1, failuresRule)
        .default(5)
        .meta({ description: "How often main may fail within a minute before the host gives up and says why." }),
      allowedHosts: hostNames
        .default([])
        .meta({ description: "Further host names that requests may be addressed to, for example behind a proxy." }),
      allowedOrigins: origins
        .default([])
        .meta({ description: "Origins of other web pages that may talk to the host." }),
    },
    { error: "expected an object, { … }" },
  )
  .meta({ title: "Thinkery configuration" });

export type Config = z.output<typeof configSchema>;

export const configKeys = Object.keys(configSchema.shape);

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
