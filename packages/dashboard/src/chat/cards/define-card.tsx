import type { Call } from "@thinkery/sdk/react";
import type { FunctionComponent, ReactNode } from "react";
import type { IconName } from "../../parts/icon.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";

/** Where a call was made. */
export interface CallSite {
  agency: string;
  agent: string;
  /** Address of the folder that has the full text of long results. */
  blobs: string;
}

export interface CardBodyProps<Input> extends CallSite {
  input: Input;
  call: Call;
}

/** What a card says in place of “done” or “failed”. */
export interface CardState {
  text: string;
  tone?: "bad";
}

export interface CardDefinition<Input> {
  /** Stylesheets find the card by it: `[data-kind="code"]`. */
  name: string;
  /** Names of the tools whose calls it shows, aliases included. */
  tools: readonly string[];
  icon: IconName;
  /** Returns undefined if the input has another shape: a model may send anything. The plain card shows it then. */
  parse(input: unknown): Input | undefined;
  /** What the call is about, in a few words. It is cut to one line and may hold any characters. */
  hint(input: Input): string;
  /** Returns undefined if the usual words will do. */
  state?(call: Call): CardState | undefined;
  /** Whether the summary says how long the call took. */
  showDuration?: boolean;
  /** Drawn while the card is open. Text of a call must go through `plain` or `visible`. */
  Body: FunctionComponent<CardBodyProps<Input>>;
}

/** A registered card; only the card itself knows the type of its input. */
export interface Card {
  name: string;
  tools: readonly string[];
  match(call: Call): CardMatch | undefined;
}

/** A card for a certain call. */
export interface CardMatch {
  name: string;
  icon: IconName;
  hint: string;
  state: CardState | undefined;
  showDuration: boolean;
  render(site: CallSite): ReactNode;
}

/** Declares a card. Export the result as `card` from `chat/cards/<name>.card.tsx`; the page finds it there. */
export function defineCard<Input>(definition: CardDefinition<Input>): Card {
  const { name, tools, icon, showDuration = false, Body } = definition;
  return {
    name,
    tools,
    match(call) {
      const input = definition.parse(call.input);
      if (input === undefined) return undefined;
      return {
        name,
        icon,
        hint: toHint(definition.hint(input)),
        state: definition.state?.(call),
        showDuration,
        render: (site) => <Body {...site} input={input} call={call} />,
      };
    },
  };
}

const maxHintChars = 80;

function toHint(text: string): string {
  return sanitizeText(text.trimStart().slice(0, maxHintChars)).replace(/\s+/g, " ");
}
