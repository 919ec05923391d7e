import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Uses the page's CSS variables, so that the editor follows theme changes automatically.
const editorTheme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "0.8438rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto", overscrollBehavior: "contain" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1.25rem 0 0.75rem" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--ink-faint)",
    border: "none",
    borderRight: "1px solid var(--line)",
  },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.5rem 0 1rem", minWidth: "2.75rem" },
  ".cm-foldGutter .cm-gutterElement": { padding: "0 0.25rem" },
  ".cm-activeLine": { backgroundColor: "color-mix(in oklab, var(--sea-wash) 45%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--sea-wash)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "color-mix(in oklab, var(--sea) 28%, transparent)",
  },
  ".cm-selectionMatch, .cm-searchMatch": {
    backgroundColor: "var(--ochre-wash)",
    outline: "1px solid color-mix(in oklab, var(--ochre) 45%, transparent)",
  },
  ".cm-searchMatch.cm-searchMatch-selected": { backgroundColor: "color-mix(in oklab, var(--ochre) 35%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--sea-wash)", outline: "1px solid var(--sea)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--clay-wash)", outline: "1px solid var(--clay)" },
  ".cm-foldPlaceholder": {
    border: "1px solid var(--line)",
    backgroundColor: "var(--sunken)",
    color: "var(--ink-soft)",
    padding: "0 0.4em",
  },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "0.5rem 2rem 0.5rem 0.75rem", fontFamily: "var(--sans)", fontSize: "0.8125rem" },
  ".cm-textfield": {
    border: "1px solid var(--line-strong)",
    borderRadius: "0.35rem",
    backgroundColor: "var(--surface)",
    color: "inherit",
    padding: "0.25rem 0.5rem",
    fontSize: "inherit",
  },
  ".cm-button": {
    border: "1px solid var(--line-strong)",
    borderRadius: "0.35rem",
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    color: "inherit",
    padding: "0.25rem 0.6rem",
    fontSize: "inherit",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "0.4rem",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--sea)", color: "var(--on-sea)" },
  ".cm-specialChar": { color: "var(--clay)" },
  ".cm-line-end": { color: "var(--ink-faint)", opacity: "0.6" },
});

const highlightStyle = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-value)" },
  { tag: [tags.comment, tags.meta], color: "var(--ink-faint)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.labelName],
    color: "var(--code-call)",
  },
  { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace], color: "var(--code-type)" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--code-property)" },
  { tag: tags.heading, color: "var(--sea-strong)", fontWeight: "650" },
  { tag: tags.strong, fontWeight: "650" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--sea)", textDecoration: "underline" },
  { tag: tags.monospace, color: "var(--code-string)" },
  { tag: tags.invalid, color: "var(--clay)" },
]);

export const theme = [editorTheme, syntaxHighlighting(highlightStyle)];
