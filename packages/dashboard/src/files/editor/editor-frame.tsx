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
  /** Returns the initial text and extensions. A different function creates a new editor. */
  initialize(): { text: string; extensions: Extension };
  readOnly: boolean;
  line: number | undefined;
}

/**
 * CodeMirror in a shadow root. There it uses constructed stylesheets; in the page itself it would insert style elements,
 * which the CSP forbids.
 */
export function EditorFrame({ path, label, initialize, readOnly, line }: FrameProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const compartments = useRef({ language: new Compartment(), access: new Compartment() });
  const latest = useRef({ readOnly, line });
  latest.current = { readOnly, line };

  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open", delegatesFocus: true });
    const { language, access } = compartments.current;
    const { text, extensions } = initialize();
    const state = EditorState.create({
      doc: text,
      extensions: [
        extensions,
        // Otherwise CR LF would be one position here and two in the shared text, and every edit after it off by one.
        EditorState.lineSeparator.of("\n"),
        lineEndingFilter,
        highlightSpecialChars({ render: renderSpecialChar }),
        basicSetup,
        keymap.of([indentWithTab]),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          "aria-label": label,
          "aria-description": "Press Escape, then Tab to leave the editor.",
        }),
        language.of([]),
        access.of(createAccessExtension(!latest.current.readOnly)),
      ],
    });
    const editor = new EditorView({ state, root, parent: root });
    view.current = editor;
    scrollToLine(editor, latest.current.line);
    let disposed = false;
    // If the language fails to load, the text is shown without highlighting.
    void loadLanguage(path).then(
      (extension) => !disposed && editor.dispatch({ effects: language.reconfigure(extension) }),
      () => {},
    );
    return () => {
      disposed = true;
      editor.destroy();
      view.current = undefined;
    };
  }, [path, label, initialize]);

  useEffect(() => {
    view.current?.dispatch({ effects: compartments.current.access.reconfigure(createAccessExtension(!readOnly)) });
  }, [readOnly]);

  useEffect(() => {
    if (view.current) scrollToLine(view.current, line);
  }, [line]);

  return <div className="editor" ref={host as RefObject<HTMLDivElement>} />;
}

/** Read-only text can still be navigated with the keyboard and selected. */
function createAccessExtension(canWrite: boolean): Extension {
  if (canWrite) return [];
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-readonly": "true" }),
  ];
}

/** A CR before a line feed is a common line ending and not shown as a warning. */
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
