import { type ReactNode, useState } from "react";
import { getErrorMessage } from "../api/login.ts";
import { announce } from "../frame/announce.tsx";
import { Notice } from "./notice.tsx";

interface Changes {
  /** Makes a change, announces `done` if it succeeds, and reads the list again. Returns whether it succeeded. */
  change(work: () => Promise<unknown>, done?: string): Promise<boolean>;
  /** Why the last change failed, if it did. */
  failureNotice: ReactNode;
}

/** Changes the entries of a list. `reload` reads it again. */
export function useChange(reload: () => Promise<unknown>): Changes {
  const [failure, setFailure] = useState<string>();
  return {
    async change(work, done) {
      try {
        await work();
        setFailure(undefined);
        if (done !== undefined) announce(done);
        return true;
      } catch (thrown) {
        setFailure(getErrorMessage(thrown));
        return false;
      } finally {
        await reload();
      }
    },
    failureNotice: failure !== undefined && (
      <div role="alert">
        <Notice tone="bad" title="That did not work">
          {failure}
        </Notice>
      </div>
    ),
  };
}
