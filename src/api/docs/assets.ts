/** Style and script of the page, read when they are first asked for. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

export function styleText(): string {
  return readFileSync(new URL('./page/style.css', import.meta.url), 'utf8');
}

/** The types become blanks: no build, and lines stay where they are. */
export function scriptText(): string {
  return stripTypeScriptTypes(readFileSync(new URL('./browser/page.ts', import.meta.url), 'utf8'));
}
