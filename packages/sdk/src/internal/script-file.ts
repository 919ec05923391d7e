import { z } from "zod";

/** A script file as read by the daemon, not validated yet. */
export const scriptFileSchema = z.object({ name: z.string(), file: z.string(), script: z.unknown() });

export const scriptNamesSchema = z.object({ scripts: z.array(z.string()) });
