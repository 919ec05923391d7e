/** A message from the host; text in backticks is shown as code. */
export function MessageText({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
