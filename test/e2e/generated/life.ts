/** The process under fire: the same one, ready, folding on, no larger than it should be. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { objectOf } from './document.ts';

const MAX_GROWTH_BYTES = 300 * 1_048_576;
/** Log lines that say that the program itself is at fault. */
const FAULTS = [
  'handlerFailed',
  'followerFailed',
  'ledgerStalled',
  'ledgerFailed',
  'executorFailed',
  'tradersFailed',
  'actorQuarantined',
  'foldFailed',
  'stateUnreadable',
  'commitFailed',
  'appendFailed',
  'serviceStopFailed',
];

interface Ready {
  readonly seq: number;
  readonly stateHash: string;
}

export class Life {
  readonly #server: Server;
  readonly #directory: string;
  readonly #pid: number;
  #last: Ready | null = null;
  #firstBytes = 0;
  /** Largest memory of all looks. */
  maxBytes = 0;

  constructor(server: Server, directory: string) {
    this.#server = server;
    this.#directory = directory;
    this.#pid = server.program.pid;
  }

  /** Throws if the process has ended or fails. */
  async look(): Promise<void> {
    const { program } = this.#server;
    assert.equal(program.exit, null, `the process ended: ${program.text}`);
    assert.equal(program.pid, this.#pid);
    const last = this.#last;
    this.#last = await untilAsked(
      'ready, with the next entries folded',
      () => this.#ready(),
      (now) => now !== null && (last === null || now.seq > last.seq),
    );
    if (last !== null) assert.notEqual(this.#last?.stateHash, last.stateHash);
    const faults = program.log.filter(({ event }) => FAULTS.includes(event));
    assert.deepEqual(faults.slice(0, 3), [], 'the log tells of no fault');
    const bytes = await this.#memory();
    if (this.#firstBytes === 0) this.#firstBytes = bytes;
    this.maxBytes = Math.max(this.maxBytes, bytes);
    const grown = bytes - this.#firstBytes;
    assert(grown < MAX_GROWTH_BYTES, `grown from ${this.#firstBytes} by ${grown} bytes`);
  }

  /** After the last request: no image is half made. */
  assertNoHalfMadeFile(): void {
    const names = readdirSync(join(this.#directory, 'images'));
    assert(names.length > 0, 'launches left images');
    assert.deepEqual(
      names.filter((name) => !/^[a-z0-9]+$/.test(name)),
      [],
    );
  }

  async #ready(): Promise<Ready | null> {
    const answer = await this.#server.get('/health/ready');
    const { seq, stateHash } = objectOf(await answer.json());
    if (answer.status !== 200) return null;
    return { seq: Number(seq), stateHash: String(stateHash) };
  }

  async #memory(): Promise<number> {
    const text = await (await this.#server.get('/metrics')).text();
    const [, bytes = ''] = /^process_resident_memory_bytes (\d+)$/m.exec(text) ?? [];
    return Number(bytes);
  }
}
