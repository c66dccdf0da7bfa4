/** Compiles the validators again and writes their blueprint. */
import { writeFileSync } from 'node:fs';
import { BLUEPRINT_PATH, blueprintText } from '../test/cardano/validators/compile.ts';

writeFileSync(BLUEPRINT_PATH, blueprintText());
