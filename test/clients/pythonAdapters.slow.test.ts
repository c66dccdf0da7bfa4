/**
 * Each adapter of the Python client in its real framework, and a client that a stock generator
 * makes, against a devnet.
 */
import { FRAMEWORK_TESTS, testInPython } from './pytest.ts';

for (const [file, framework] of Object.entries(FRAMEWORK_TESTS)) {
  testInPython(`${framework} and this market work together`, [file], framework);
}
