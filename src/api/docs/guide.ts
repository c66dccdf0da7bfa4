/**
 * Rules for all routes and topics, as Markdown: the descriptions of the two documents and the
 * first part of the page. The text lies in `prose/`; tables come from the constants of the code.
 * Source: protocol.md sections 0, 2 and 6.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATALOGUE } from '../../engine/runtime/errors.ts';
import { CLOSE_CODES } from './frames.ts';

export const GUIDE = prose('guide').replace('{causes}', causesTable());
export const SOCKET_GUIDE = prose('socket').replace('{closeCodes}', closeCodesTable());

function prose(name: string): string {
  return readFileSync(join(import.meta.dirname, 'prose', `${name}.md`), 'utf8');
}

/** By code. */
function causesTable(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([cause, { code, status, retry }]) =>
      `| ${code} | \`${cause}\` | ${status} | ${retry ? 'yes' : 'no'} |`,
  );
  return ['| code | cause | status | retry |', '|---|---|---|---|', ...rows].join('\n');
}

function closeCodesTable(): string {
  const rows = CLOSE_CODES.map(
    ([code, meaning]) => `| ${code} | ${meaning} | ${code < 4500 ? 'yes' : 'no'} |`,
  );
  return ['| code | meaning | reconnect |', '|---|---|---|', ...rows].join('\n');
}
