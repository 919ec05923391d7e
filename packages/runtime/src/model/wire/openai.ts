/** OpenAI's models that think before they answer: they take no temperature and give their thoughts only on request. */
export function isReasoner(model: string): boolean {
  if (/^o\d/.test(model)) return true;
  const version = model.match(/^gpt-(\d+)/)?.[1];
  return version !== undefined && Number(version) >= 5 && !model.includes("-chat");
}
