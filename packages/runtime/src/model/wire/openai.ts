/** Whether an OpenAI model reasons. Those accept no temperature and return their reasoning only on request. */
export function isReasoner(model: string): boolean {
  if (/^o\d/.test(model)) return true;
  const version = model.match(/^gpt-(\d+)/)?.[1];
  return version !== undefined && Number(version) >= 5 && !model.includes("-chat");
}
