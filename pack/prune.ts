/**
 * Makes an installation smaller, on the machine where it runs: npm starts this after `npm ci` and
 * `npm install` (`postinstall`), and after `npm ci --ignore-scripts` `npm run postinstall`
 * starts it. Removes what `removable.ts` lists. `npm ci` brings everything back.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removable } from './removable.ts';

const modules = join(import.meta.dirname, '../node_modules');
const isProduction = !existsSync(join(modules, 'typescript'));
const { platform, arch } = process;
const paths = removable(modules, { platform, arch }, isProduction);
for (const path of paths) rmSync(path, { recursive: true, force: true });
