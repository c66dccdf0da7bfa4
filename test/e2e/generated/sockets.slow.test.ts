/**
 * Frames made from the served AsyncAPI document: only documented events and close codes come back,
 * and the process lives. `SEED=…` for the same frames again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { IS_LONG } from '../../support/long.ts';
import { startServer, temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Documents } from '../api/conforms.ts';
import { type Json, objectOf, Served } from './document.ts';
import { clientSchemas, FRAMES_EACH, type Sent, talks } from './frames.ts';
import { Life } from './life.ts';
import { Market } from './market.ts';
import { Values } from './values.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const FRAMES = Number(process.env.FRAMES ?? (IS_LONG ? 1_000 : 500));
const OFFERS = [['json'], ['msgpack'], [], ['json', 'msgpack'], ['xml']];
const MIN_TOPICS = 6;
/**
 * Close codes of the WebSocket library for messages that it refuses by itself: too large, not
 * UTF-8, cut off.
 */
const LIBRARY_CODES = [1006, 1007, 1009];

/** The frames of one socket. */
class Listener {
  readonly #socket: WebSocket;
  readonly #told: (frame: Json) => void;
  readonly #isBinary: boolean;
  closeCode: number | null = null;
  answered = false;

  constructor(url: string, offer: readonly string[], told: (frame: Json) => void) {
    this.#told = told;
    this.#isBinary = offer[0] === 'msgpack';
    this.#socket = new WebSocket(url.replace('http', 'ws'), [...offer]);
    this.#socket.on('message', (bytes: Buffer, isBinary: boolean) => this.#hear(bytes, isBinary));
    this.#socket.on('close', (code) => {
      this.closeCode = code;
    });
    this.#socket.on('error', () => {});
  }

  /** Sends them all, then a ping; the ping's answer proves that the server read every frame. */
  async talk(sent: readonly Sent[]): Promise<void> {
    const isOpen = () => this.#socket.readyState === WebSocket.OPEN;
    await until('the socket opens', () => isOpen() || this.closeCode !== null);
    for (const { bytes } of sent) if (isOpen()) this.#socket.send(bytes);
    if (isOpen()) this.#socket.send('{"messageType":"ping","requestId":"the end"}');
    await until('the last answer', () => this.answered || this.closeCode !== null);
    if (this.closeCode === null) this.#socket.terminate();
  }

  #hear(bytes: Buffer, isBinary: boolean): void {
    assert.equal(isBinary, this.#isBinary, 'the encoding agreed on');
    const frame = objectOf(isBinary ? decode(bytes) : JSON.parse(bytes.toString()));
    if (frame.requestId === 'the end') this.answered = true;
    this.#told(frame);
  }
}

/** Checks each frame against the channels that name its event. */
function frameJudge(documents: Documents, asyncapi: Json, tally: Map<string, number>) {
  const homes = new Map<string, string[]>();
  for (const [name, channel] of Object.entries(objectOf(asyncapi.channels))) {
    for (const event of Object.keys(objectOf(objectOf(channel).messages))) {
      homes.set(event, [...(homes.get(event) ?? []), name]);
    }
  }
  return (frame: Json): void => {
    const event = String(frame.event);
    tally.set(event, (tally.get(event) ?? 0) + 1);
    const errors: unknown[] = [];
    for (const channel of homes.get(event) ?? []) {
      try {
        documents.frame(channel, event, frame);
        return;
      } catch (error) {
        errors.push(error);
      }
    }
    const why = errors.map((error) => (error instanceof Error ? error.message : error));
    assert.fail(`${JSON.stringify(frame).slice(0, 800)}: ${why.join() || 'not documented'}`);
  };
}

test('generated frames are answered as documented, and the process lives', {
  timeout: 300_000,
}, async (t) => {
  t.diagnostic(
    `seed ${SEED}; again: SEED=${SEED} node --test test/e2e/generated/sockets.slow.test.ts`,
  );
  const directory = temporaryDirectory();
  const server = await startServer(t, [], {
    DATA_DIR: directory,
    NETWORK: 'devnet',
    BLOCK_EVERY_MS: '200',
    TRADERS_PACE: '1',
  });
  const finds = await new Market(server.url).play();
  const asyncapi = new Served(await (await server.get('/v1/docs/asyncapi')).text());
  const { document } = asyncapi;
  const schemas = clientSchemas(document);
  const every = fc.sample(talks(schemas, new Values(asyncapi, finds)), {
    seed: SEED,
    numRuns: Math.ceil(FRAMES / FRAMES_EACH),
  });
  const codes = /\b4\d{3}\b/g;
  const documented = Array.from(
    String(objectOf(document.info).description).matchAll(codes),
    ([code]) => code,
  );
  const tally = new Map<string, number>();
  const judge = frameJudge(await Documents.read(server.url), document, tally);
  const life = new Life(server, directory);
  await life.look();
  const faults: string[] = [];
  for (const [index, sent] of every.entries()) {
    const offer = OFFERS[index % OFFERS.length] ?? [];
    const listener = new Listener(`${server.url}/ws`, offer, (frame) => {
      try {
        judge(frame);
      } catch (error) {
        faults.push(String(error));
      }
    });
    await listener.talk(sent);
    const { closeCode } = listener;
    tally.set(`closed ${closeCode}`, (tally.get(`closed ${closeCode}`) ?? 0) + 1);
    const isOurs = closeCode === null || documented.includes(String(closeCode));
    const isTheirs = LIBRARY_CODES.includes(closeCode ?? 0) && sent.some((one) => one.isTooMuch);
    if (!isOurs && !isTheirs) faults.push(`socket ${index}: closed with ${closeCode}`);
  }
  await life.look();
  t.diagnostic(JSON.stringify(Object.fromEntries([...tally].sort())));
  assert.deepEqual(faults.slice(0, 5), [], `${faults.length} faults`);
  for (const name of ['Error', 'Pong', 'Subscribed', 'closed 4500', 'closed 4501']) {
    assert(tally.has(name), `${name} was seen`);
  }
  const updates = [...tally.keys()].filter((event) => event.endsWith('Update'));
  assert(updates.length >= MIN_TOPICS, `topics were heard: ${updates}`);
  assert.equal((await server.stop()).code, 0);
});
