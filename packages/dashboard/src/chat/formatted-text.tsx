import { memo } from "react";
import { type Block, parseBlocks, parseInlineCode, showControlChars } from "./blocks.ts";

/** Text of a model or a user with paragraphs and code. Nothing in it becomes a link, an image or markup. */
export function FormattedText({ text }: { text: string }) {
  return (
    <div className="formatted-text" dir="auto">
      {parseBlocks(showControlChars(text)).map((block, index) => (
        <BlockView key={index} kind={block.kind} text={block.text} />
      ))}
    </div>
  );
}

// Memoized: while a text grows, only its last block changes.
const BlockView = memo(function BlockView({ kind, text }: Pick<Block, "kind" | "text">) {
  if (kind === "code") {
    return (
      <pre className="text" tabIndex={0}>
        <code>{text}</code>
      </pre>
    );
  }
  return (
    <p>
      {parseInlineCode(text).map((piece, index) =>
        piece.kind === "code" ? <code key={index}>{piece.text}</code> : piece.text,
      )}
    </p>
  );
});
