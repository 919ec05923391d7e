import { memo } from "react";
import { type Block, blocksOf, piecesOf, visible } from "./blocks.ts";

/** What a model or a person said, as text only: nothing in it becomes a link, an image or markup. */
export function Words({ text }: { text: string }) {
  return (
    <div className="words" dir="auto">
      {blocksOf(visible(text)).map((block, index) => (
        <BlockView key={index} kind={block.kind} text={block.text} />
      ))}
    </div>
  );
}

// While a text grows only its last block changes; the others are not drawn again.
const BlockView = memo(function BlockView({ kind, text }: Pick<Block, "kind" | "text">) {
  if (kind === "code") {
    return (
      <pre className="text" tabIndex={0}>
        <code>{text}</code>
      </pre>
    );
  }
  return (
    <p>{piecesOf(text).map((piece, index) => (piece.kind === "code" ? <code key={index}>{piece.text}</code> : piece.text))}</p>
  );
});
