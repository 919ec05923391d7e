import { Fragment, memo, type ReactNode } from "react";
import { type Block, parseBlocks, parseInlineCode, showControlChars } from "./blocks.ts";

interface FormattedTextProps {
  text: string;
  /** Renders what is not code, such as to show mentions in it. It should not change from one rendering to the next. */
  renderPlain?(text: string): ReactNode;
}

/** Text of a model or a user with paragraphs and code. Nothing in it becomes a link, an image or markup. */
export function FormattedText({ text, renderPlain }: FormattedTextProps) {
  return (
    <div className="formatted-text" dir="auto">
      {parseBlocks(showControlChars(text)).map((block, index) => (
        <BlockView key={index} kind={block.kind} text={block.text} renderPlain={renderPlain} />
      ))}
    </div>
  );
}

// Memoized: while a text grows, only its last block changes.
const BlockView = memo(function BlockView({
  kind,
  text,
  renderPlain,
}: Pick<Block, "kind" | "text"> & Pick<FormattedTextProps, "renderPlain">) {
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
        piece.kind === "code" ? (
          <code key={index}>{piece.text}</code>
        ) : renderPlain ? (
          <Fragment key={index}>{renderPlain(piece.text)}</Fragment>
        ) : (
          piece.text
        ),
      )}
    </p>
  );
});
