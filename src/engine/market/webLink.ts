/**
 * Links that a launch carries, for the server and every client alike: what is signed and stored is
 * the link as a URL parser prints it, so that no browser reads it as another one.
 */

export const MAX_LINK_BYTES = 200;
/** What parsers would repair: no host behind `//`, spaces, backslashes, tabs, and who logs in. */
const AS_WRITTEN = /^https:\/\/[^\s\p{C}\p{Z}\\/?#@]+([/?#][^\s\p{C}\p{Z}\\]*)?$/iu;

/** `https://host…` as `URL` prints it (ASCII); null where the text is no such link. */
export function webLink(text: string): string | null {
  if (!AS_WRITTEN.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.href.length > MAX_LINK_BYTES) return null;
  return url.href;
}
