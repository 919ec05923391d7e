import { z } from "zod";
import { agencyIdSchema } from "../name-schemas.ts";

/** The path of everything in an agency. */
export const agencyParams = z.object({ agency: agencyIdSchema });
