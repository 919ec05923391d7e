// Everything that needs CodeMirror and Yjs; loaded when the first text file is opened.
export { LiveEditor } from "./live-editor.tsx";
export { TextView } from "./text-view.tsx";
