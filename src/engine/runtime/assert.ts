/** A programmer's error: the message says which assumption broke. Never for bad input. */
export function assert(condition: unknown, assumption: string): asserts condition {
  if (!condition) throw new Error(`assumption broken: ${assumption}`);
}
