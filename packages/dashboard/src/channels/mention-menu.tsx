import type { TeamAgent } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { describeAgentState, statusTones } from "../team/describe-agent.ts";
import type { MentionMenuState } from "./use-mention-menu.ts";

interface MentionMenuProps {
  menu: MentionMenuState;
  id: string;
  agents: readonly TeamAgent[];
}

/** The agents that a mention may become. The field keeps the focus. */
export function MentionMenu({ menu, id, agents }: MentionMenuProps) {
  if (!menu.isOpen) return null;
  return (
    <ul className="mention-menu" id={id} role="listbox" aria-label="Agents">
      {menu.candidates.map((name, index) => {
        const agent = agents.find((one) => one.name === name);
        return (
          <li
            key={name}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === menu.active}
            // The field would lose the focus, and the menu close, before the click.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => menu.choose(name)}
          >
            {agent && <span className="dot" data-tone={statusTones[agent.status]} aria-hidden="true" />}
            <span className="mention-name">{name}</span>
            {agent && (
              <span className="faint">{agent.role ? sanitizeText(agent.role) : describeAgentState(agent)}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
