/** A sentence of the host, with what it puts in backticks set as code. */
export function MessageText({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
