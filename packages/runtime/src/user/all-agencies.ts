import type { Agency, PageQuery } from "@thinkery/sdk";
import type { AgencyRegistry } from "./agencies.ts";
import type { SharedAgencies } from "./shared-agencies.ts";

/** Lists a user's own agencies, then those of others that the user is a member of, whose ids have an “@”. */
export function listAllAgencies(
  { limit, after }: PageQuery,
  { agencies, shared }: { agencies: AgencyRegistry; shared: SharedAgencies },
): { agencies: Agency[]; next?: string } {
  if (after?.includes("@")) return shared.list({ limit, after });
  const own = agencies.list({ limit, ...(after === undefined ? {} : { after }) });
  if (own.next !== undefined) return own;
  const free = limit - own.agencies.length;
  const others = shared.list({ limit: Math.max(free, 1) });
  if (free > 0) return { ...others, agencies: [...own.agencies, ...others.agencies] };
  const last = own.agencies.at(-1);
  return last && others.agencies.length > 0 ? { ...own, next: last.id } : own;
}
