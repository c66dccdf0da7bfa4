/**
 * Each adapter of the Python client in its real framework, and a client that a stock generator
 * makes, against a devnet. nautilus_trader alone takes as long as all others: not in CI.
 */
import { IS_LONG } from '../support/long.ts';
import { FRAMEWORK_TESTS, testInPython } from './pytest.ts';

for (const [file, framework] of Object.entries(FRAMEWORK_TESTS)) {
  if (framework === 'nautilus_trader' && !IS_LONG) continue;
  testInPython(`${framework} and this market work together`, [file], framework);
}
