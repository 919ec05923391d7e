import { type AskedCall, type RememberScope, rememberScopes } from "@thinkery/sdk";
import { useId } from "react";
import { getAgentName } from "../../api/agent-path.ts";
import type { AgentPlace } from "../../api/inbox.ts";
import { describeRememberScope, listRemembered } from "./describe-approval.ts";
import { showHidden } from "./show-hidden.ts";

interface RememberChoiceProps extends AgentPlace {
  calls: readonly AskedCall[];
  /** Whether a call has another input, or a result in the tool's place. */
  isChanged(call: AskedCall): boolean;
  value: RememberScope;
  onChange(value: RememberScope): void;
}

/** Whether calls like these are asked about again, and exactly which ones are not. */
export function RememberChoice({ agency, agent, calls, isChanged, value, onChange }: RememberChoiceProps) {
  const id = useId();
  const remembered = listRemembered(calls, isChanged);
  const name = getAgentName(agent);
  if (remembered.length === 0) return <p className="faint">Calls that you changed are approved once.</p>;
  return (
    <div className="remember">
      <label htmlFor={id}>Remember</label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-text`}
        onChange={(event) => onChange(event.target.value as RememberScope)}
      >
        {rememberScopes.map((scope) => (
          <option key={scope} value={scope}>
            {describeRememberScope(scope, name, agency)}
          </option>
        ))}
      </select>
      <div className="remember-text" id={`${id}-text`} aria-live="polite">
        {value !== "once" && (
          <>
            <p>
              Without asking again, {value === "agent" ? `${name} and its sub-agents` : `all agents in ${agency}`} may
              make:
            </p>
            <ul>
              {remembered.map(({ tool, match }, index) => (
                <li key={index}>
                  {match === undefined ? (
                    <>
                      <strong>every</strong> call of <code>{showHidden(tool)}</code>, whatever its input
                    </>
                  ) : (
                    <>
                      calls of <code>{showHidden(tool)}</code> that match <code>{showHidden(match)}</code>
                    </>
                  )}
                </li>
              ))}
            </ul>
            {calls.some(isChanged) && <p className="faint">Calls that you changed are approved once.</p>}
            <p className="faint">Rules that deny a call still apply.</p>
          </>
        )}
      </div>
    </div>
  );
}
