/** Asks the foreign evaluator again and stores its verdicts: `npm run test:judge` has built it. */
import { writeVectors } from '../test/cardano/judge/vectors.ts';

writeVectors();
