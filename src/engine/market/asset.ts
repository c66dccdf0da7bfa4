/**
 * Asset ids: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.
 * Source: protocol.md section 0. Input in any hex case, output in lower case.
 */
export type AssetId = string;

export const COIN = '.' as const;
const COIN_ALIASES: readonly string[] = ['ADA', '0x'];
export const ASSET_PATTERN = '^(\\.|[0-9a-fA-F]{56}\\.([0-9a-fA-F]{2}){0,32})$';

const SHAPE = new RegExp(ASSET_PATTERN);

/** The canonical id, or null when `text` is not an asset id. */
export function parseAsset(text: string): AssetId | null {
  if (!SHAPE.test(text)) return null;
  return text.toLowerCase();
}

/** As `parseAsset`, also taking `ADA` and `0x` for the coin: WebSocket clients write them. */
export function parseAssetOrAlias(text: string): AssetId | null {
  return COIN_ALIASES.includes(text) ? COIN : parseAsset(text);
}
