/**
 * Links that a launch carries, for the server and every client alike: the link is signed and stored
 * as a URL parser prints it, so that no browser reads another link.
 */

export const MAX_LINK_BYTES = 200;
/**
 * Links without the faults that parsers would repair: no host behind `//`, spaces, backslashes,
 * tabs, and user names.
 */
const AS_WRITTEN = /^https:\/\/[^\s\p{C}\p{Z}\\/?#@]+([/?#][^\s\p{C}\p{Z}\\]*)?$/iu;

/** `https://host…` as `URL` prints it (ASCII); null where the text is no such link. */
export function webLink(text: string): string | null {
  if (!AS_WRITTEN.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.href.length > MAX_LINK_BYTES) return null;
  return url.href;
}
