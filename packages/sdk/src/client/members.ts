import type { Scope } from "../protocol/choices.ts";
import type { Member, UserMember } from "../protocol/team.ts";
import type { Transport } from "./transport.ts";

/** Who may use an agency, and its agents. */
export interface Members {
  /** Iterates over the people, its owner first, then the agents. */
  list(): AsyncGenerator<Member>;
  /**
   * Lets another user of the host use the agency, or changes what they may do. Only for the agency's owner.
   *
   * @param scopes Defaults to `chat`. Every member may read.
   */
  put(user: string, scopes?: Scope[]): Promise<UserMember>;
  /** Takes the agency away from a user. Only for the agency's owner. */
  remove(user: string): Promise<void>;
}

export function createMembers({ call }: Transport, agency: string): Members {
  return {
    async *list() {
      let after: string | undefined;
      do {
        const query = { limit: 500, ...(after === undefined ? {} : { after }) };
        const { members, next } = await call("listMembers", { params: { agency }, query });
        yield* members;
        after = next;
      } while (after !== undefined);
    },
    put: (user, scopes) => call("putMember", { params: { agency, user }, body: scopes ? { scopes } : {} }),
    async remove(user) {
      await call("deleteMember", { params: { agency, user } });
    },
  };
}
