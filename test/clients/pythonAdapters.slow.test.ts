/** The adapters of the Python client, each in its real framework, against a devnet. */
import { ADAPTERS, testInPython } from './pytest.ts';

for (const [file, framework] of Object.entries(ADAPTERS)) {
  testInPython(`the adapter of ${framework} works in it`, [file], framework);
}
