import { type Extension, type Range, StateEffect } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType } from "@codemirror/view";
import * as Y from "yjs";
import type { LiveSession } from "./live-session.ts";
import { toRecord, type Person, parsePerson, personColors } from "./people.ts";

// y-codemirror has this, too, but sets colors in style attributes, which the CSP forbids.

const cursorsChanged = StateEffect.define<null>();

/** Shows the cursors of other users and publishes our own. */
export function createRemoteCursors({ awareness, doc }: LiveSession, text: Y.Text): Extension {
  class RemoteCursors {
    decorations: DecorationSet = Decoration.none;
    private readonly onChange: (change: { added: number[]; updated: number[]; removed: number[] }) => void;

    constructor(view: EditorView) {
      this.onChange = ({ added, updated, removed }) => {
        if ([...added, ...updated, ...removed].some((id) => id !== doc.clientID))
          view.dispatch({ effects: cursorsChanged.of(null) });
      };
      awareness.on("change", this.onChange);
      this.decorations = buildDecorations(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.selectionSet || update.focusChanged) publishCursor(update.view);
      this.decorations = buildDecorations(update.view);
    }

    destroy(): void {
      awareness.off("change", this.onChange);
    }
  }

  function publishCursor({ state, hasFocus }: EditorView): void {
    if (!hasFocus) return;
    const { anchor, head } = state.selection.main;
    const toPosition = (index: number) => Y.createRelativePositionFromTypeIndex(text, index);
    const cursor = { anchor: toPosition(anchor), head: toPosition(head) };
    const previous = toRecord(awareness.getLocalState()?.cursor);
    if (JSON.stringify(previous) !== JSON.stringify(cursor)) awareness.setLocalStateField("cursor", cursor);
  }

  function buildDecorations({ state }: EditorView): DecorationSet {
    const ranges: Range<Decoration>[] = [];
    for (const [id, awarenessState] of awareness.getStates()) {
      const cursor = id === doc.clientID ? undefined : parseCursor(awarenessState);
      if (!cursor) continue;
      const person = parsePerson(id, awarenessState);
      const [from, to] = [Math.min(cursor.anchor, cursor.head), Math.max(cursor.anchor, cursor.head)];
      if (to > state.doc.length) continue;
      if (from < to) ranges.push(Decoration.mark({ class: `other-selection other-${person.tone}` }).range(from, to));
      ranges.push(
        Decoration.widget({ widget: new Caret(person), side: cursor.head > cursor.anchor ? -1 : 1 }).range(cursor.head),
      );
    }
    return Decoration.set(ranges, true);
  }

  function parseCursor(awarenessState: unknown): { anchor: number; head: number } | undefined {
    const { anchor, head } = toRecord(toRecord(awarenessState).cursor);
    const [anchorIndex, headIndex] = [toIndex(anchor), toIndex(head)];
    return anchorIndex === undefined || headIndex === undefined ? undefined : { anchor: anchorIndex, head: headIndex };
  }

  function toIndex(position: unknown): number | undefined {
    try {
      const absolute = Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(position), doc);
      return absolute?.type === text ? absolute.index : undefined;
    } catch {
      // Not a valid position.
      return undefined;
    }
  }

  return [cursorTheme, ViewPlugin.fromClass(RemoteCursors, { decorations: (plugin) => plugin.decorations })];
}

class Caret extends WidgetType {
  private readonly person: Person;

  constructor(person: Person) {
    super();
    this.person = person;
  }

  override eq({ person }: Caret): boolean {
    return person.name === this.person.name && person.tone === this.person.tone && person.id === this.person.id;
  }

  toDOM(): HTMLElement {
    const caret = document.createElement("span");
    caret.className = `other-caret other-${this.person.tone}`;
    const name = document.createElement("span");
    name.className = "other-name";
    name.textContent = this.person.name;
    // Not part of the text; the list above the editor names everyone for screen readers.
    caret.ariaHidden = "true";
    caret.append("\u2060", name, "\u2060");
    return caret;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

const cursorTheme = EditorView.baseTheme({
  ".other-selection": { backgroundColor: "color-mix(in oklab, var(--other) 25%, transparent)" },
  ".other-caret": {
    position: "relative",
    borderLeft: "2px solid var(--other)",
    marginLeft: "-1px",
    marginRight: "-1px",
  },
  ".other-name": {
    position: "absolute",
    left: "-2px",
    bottom: "100%",
    zIndex: "5",
    padding: "0 0.35em",
    borderRadius: "0.3em 0.3em 0.3em 0",
    backgroundColor: "var(--other)",
    color: "var(--surface)",
    fontFamily: "var(--sans)",
    fontSize: "0.6875rem",
    fontWeight: "600",
    lineHeight: "1.35",
    whiteSpace: "nowrap",
    pointerEvents: "none",
    userSelect: "none",
  },
  // There is no room above the first line.
  ".cm-line:first-child .other-name": { top: "100%", bottom: "auto", borderRadius: "0 0.3em 0.3em 0.3em" },
  ...Object.fromEntries(personColors.map((_, tone) => [`.other-${tone}`, { "--other": `var(--other-${tone})` }])),
});
