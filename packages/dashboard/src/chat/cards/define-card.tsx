import type { Call } from "@thinkery/sdk/react";
import type { FunctionComponent, ReactNode } from "react";
import type { IconName } from "../../parts/icon.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";

/** Where a call was made. */
export interface CallSite {
  agency: string;
  agent: string;
  /** URL of the folder with the full text of long results. */
  blobs: string;
}

export interface CardBodyProps<Input> extends CallSite {
  input: Input;
  call: Call;
}

/** Label of a card in place of “done” or “failed”. */
export interface CardState {
  text: string;
  tone?: "bad";
}

export interface CardDefinition<Input> {
  /** Also a hook for stylesheets: `[data-kind="code"]`. */
  name: string;
  /** Tools whose calls the card shows, including aliases. */
  tools: readonly string[];
  icon: IconName;
  /** A model may send anything. Returns undefined for an unexpected shape, which the plain card then shows. */
  parse(input: unknown): Input | undefined;
  /** Short summary of the call. It is truncated to one line and sanitized. */
  hint(input: Input): string;
  /** Returns undefined to use the default label. */
  state?(call: Call): CardState | undefined;
  /** Whether to show how long the call took. */
  showDuration?: boolean;
  /** Rendered while the card is open. Pass text of a call through `sanitizeText` or `showControlChars`. */
  Body: FunctionComponent<CardBodyProps<Input>>;
}

/** A registered card; only the card itself knows the type of its input. */
export interface Card {
  name: string;
  tools: readonly string[];
  match(call: Call): CardMatch | undefined;
}

/** A card for a specific call. */
export interface CardMatch {
  name: string;
  icon: IconName;
  hint: string;
  state: CardState | undefined;
  showDuration: boolean;
  render(site: CallSite): ReactNode;
}

/** Declares a card. Export the result as `card` from `chat/cards/<name>.card.tsx`; it is found there automatically. */
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
