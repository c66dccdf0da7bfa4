/**
 * Makes the files of the page, where they are missing or of other sources: npm starts this after an
 * installation and before `npm start`. Where the folder cannot be written it says so and ends well:
 * the server then says how to make them.
 */
import { isPageMade } from '../src/api/page/made.ts';
import { makePage } from './pageBundle.ts';

try {
  if (!isPageMade()) await makePage();
} catch (error) {
  console.error(`the page was not made: ${String(error)}`);
  if (process.argv.includes('--strict')) process.exitCode = 1;
}
