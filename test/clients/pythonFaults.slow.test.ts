/** Mirrors of the Python client through cuts, lost frames, forks, restarts and slow reading. */
import { FAULTS, testInPython } from './pytest.ts';

testInPython('mirrors of the Python client stay right', FAULTS);
