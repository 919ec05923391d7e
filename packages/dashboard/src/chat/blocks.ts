export interface Block {
  kind: "text" | "code";
  text: string;
  language?: string;
}

const fencePattern = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`\n]*$/;

/** Splits a text into paragraphs and fenced code. An unclosed fence, as in a streaming text, is code to the end. */
export function parseBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let open: { mark: string; language: string } | undefined;

  const endText = () => {
    const paragraph = lines.join("\n").trimEnd();
    if (paragraph.trim() !== "") blocks.push({ kind: "text", text: paragraph });
    lines = [];
  };
  const endCode = (language: string) => {
    blocks.push({ kind: "code", text: lines.join("\n"), ...(language ? { language } : {}) });
    lines = [];
  };

  for (const line of text.split("\n")) {
    const [, mark = "", language = ""] = fencePattern.exec(line) ?? [];
    if (open) {
      if (mark.startsWith(open.mark) && language === "") {
        endCode(open.language);
        open = undefined;
      } else lines.push(line);
    } else if (mark) {
      endText();
      open = { mark, language };
    } else if (line.trim() === "") endText();
    else lines.push(line);
  }
  if (open) endCode(open.language);
  else endText();
  return blocks;
}

export interface Piece {
  kind: "plain" | "code";
  text: string;
}

/** Splits a paragraph into plain text and inline `code`. */
export function parseInlineCode(text: string): Piece[] {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, index): Piece => ({ kind: index % 2 === 1 ? "code" : "plain", text: part }))
    .filter((piece) => piece.text !== "");
}

const controlChars = /[\p{Cc}\u202d\u202e]/gu;

/** Makes control characters, such as terminal colors, visible so that they do not affect the text around them. */
export function showControlChars(text: string): string {
  return text.replace(controlChars, (character) => {
    if (character === "\n" || character === "\t") return character;
    if (character === "\r") return "";
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });
}
