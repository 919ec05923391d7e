import { z } from "zod";

/** A script that the daemon read from a file, not validated yet. */
export const scriptFileSchema = z.object({ name: z.string(), file: z.string(), script: z.unknown() });

export const scriptNamesSchema = z.object({ scripts: z.array(z.string()) });
