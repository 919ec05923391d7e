// All that needs CodeMirror and Yjs: loaded when the first text is opened, and not with the page.
export { LiveEditor } from "./live-editor.tsx";
export { TextView } from "./text-view.tsx";
