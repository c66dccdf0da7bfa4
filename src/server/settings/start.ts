/** The block that following begins after, as a person writes it. */

/** null: at the origin, so with the chain's first block. */
export type Start = { readonly slot: number; readonly hash: string } | null;

const POINT = /^(\d{1,12})\.([0-9a-fA-F]{64})$/;

export function readStart(text: string): Start | 'malformed' {
  if (text === 'origin') return null;
  const [, slot, hash] = POINT.exec(text) ?? [];
  if (slot === undefined || hash === undefined) return 'malformed';
  return { slot: Number(slot), hash: hash.toLowerCase() };
}
