import { z } from "zod";
import { agencyRefSchema } from "../name-schemas.ts";

/** The path of everything in an agency: `review`, or `review@bob` for an agency of another user. */
export const agencyParams = z.object({ agency: agencyRefSchema });
