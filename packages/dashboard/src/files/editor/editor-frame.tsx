import { indentWithTab } from "@codemirror/commands";
import { Compartment, EditorSelection, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { type RefObject, useEffect, useRef } from "react";
import { loadLanguage } from "./languages.ts";
import { lineEndingFilter } from "./line-ends.ts";
import { theme } from "./theme.ts";

interface FrameProps {
  path: string;
  label: string;
  /** What it begins with, and what else it does; another one of these is another editor. */
  begin(): { text: string; extensions: Extension };
  readOnly: boolean;
  line: number | undefined;
}

/**
 * CodeMirror. It lies in a shadow tree, because there it brings its styles as constructed sheets: in the page itself it
 * would write style elements, which the page's policy forbids.
 */
export function EditorFrame({ path, label, begin, readOnly, line }: FrameProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const parts = useRef({ language: new Compartment(), writing: new Compartment() });
  const now = useRef({ readOnly, line });
  now.current = { readOnly, line };

  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open", delegatesFocus: true });
    const { language, writing } = parts.current;
    const { text, extensions } = begin();
    const state = EditorState.create({
      doc: text,
      extensions: [
        extensions,
        // Otherwise a CR LF would be one place here and two in the text that all share, and every edit after it off by one.
        EditorState.lineSeparator.of("\n"),
        lineEndingFilter,
        highlightSpecialChars({ render: renderSpecialChar }),
        basicSetup,
        keymap.of([indentWithTab]),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          "aria-label": label,
          "aria-description": "Escape, then Tab leads out of the text.",
        }),
        language.of([]),
        writing.of(createAccessExtension(!now.current.readOnly)),
      ],
    });
    const made = new EditorView({ state, root, parent: root });
    view.current = made;
    scrollToLine(made, now.current.line);
    let gone = false;
    // Without colours it can be read as well.
    void loadLanguage(path).then(
      (extension) => !gone && made.dispatch({ effects: language.reconfigure(extension) }),
      () => {},
    );
    return () => {
      gone = true;
      made.destroy();
      view.current = undefined;
    };
  }, [path, label, begin]);

  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.writing.reconfigure(createAccessExtension(!readOnly)) });
  }, [readOnly]);

  useEffect(() => {
    if (view.current) scrollToLine(view.current, line);
  }, [line]);

  return <div className="editor" ref={host as RefObject<HTMLDivElement>} />;
}

/** Whoever may only read can still go through it with the keyboard, and select. */
function createAccessExtension(may: boolean): Extension {
  if (may) return [];
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-readonly": "true" }),
  ];
}

/** The CR before a line feed is a common way to end a line, and no reason for a warning. */
function renderSpecialChar(code: number, description: string | null, placeholder: string): HTMLElement {
  const mark = document.createElement("span");
  const isLineEnd = code === 13;
  mark.className = isLineEnd ? "cm-line-end" : "cm-specialChar";
  mark.textContent = isLineEnd ? "↵" : placeholder;
  mark.title = description ?? "";
  mark.ariaHidden = isLineEnd ? "true" : null;
  if (!isLineEnd) mark.ariaLabel = description;
  return mark;
}

function scrollToLine(view: EditorView, line: number | undefined): void {
  if (line === undefined) return;
  const { doc } = view.state;
  const { from } = doc.line(Math.min(line, doc.lines));
  view.dispatch({ selection: EditorSelection.cursor(from), effects: EditorView.scrollIntoView(from, { y: "center" }) });
}
