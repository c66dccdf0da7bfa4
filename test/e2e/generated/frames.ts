/** WebSocket frames from the served AsyncAPI document: valid, mutated and hostile ones. */

import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { type Json, objectOf, type Served } from './document.ts';
import { junk, PLACE } from './mutations.ts';
import type { Values } from './values.ts';

export interface Sent {
  readonly bytes: Buffer | string;
  /** Breaks the WebSocket protocol itself: the library may end the connection. */
  readonly isTooMuch: boolean;
}

export const FRAMES_EACH = 20;
const TOO_MUCH_BYTES = 300_000;
const BOMBS = [
  'dd01ffffffdd01ffffffdd01ffffff',
  'dfffffffff',
  'dbffffffff61',
  'c1',
  'c7ff00',
  'd6ff00000000',
  '91'.repeat(30_000),
  '81a16181a161'.repeat(5_000),
];
const TEXTS = [
  '',
  ' ',
  'null',
  '{',
  '[]',
  '{"messageType":"__proto__"}',
  '{"__proto__":{"messageType":"ping"}}',
  '{"messageType":"subscribe","requestId":"r","topic":"constructor","data":{}}',
  '{"messageType":"subscribe","requestId":"r","topic":"LastBar","data":{"pair":null}}',
  '{"messageType":"subscribe","requestId":"r","topics":[null,1,{},[]]}',
  '{"messageType":"subscribe","requestId":"r","topic":"New","since":{"epoch":"9-z","seq":9}}',
  '{"messageType":"subscribe","requestId":"r","topic":"New","since":{"epoch":"0-z","seq":0}}',
  `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  `{"messageType":"ping","requestId":"${'x'.repeat(65_536)}"}`,
  `{"messageType":"ping","requestId":"\\ud800\\u0000"}`,
];

/** Schemas of clients' messages in the document: each message whose direction is `receive`. */
export function clientSchemas(document: Served['document']): Json[] {
  return Object.values(objectOf(document.channels)).flatMap((channel) =>
    Object.values(objectOf(objectOf(channel).messages))
      .map((message) => objectOf(objectOf(message).payload))
      .filter(({ properties }) => !('event' in objectOf(properties))),
  );
}

/** The messages of one socket. */
export function talks(schemas: readonly Json[], values: Values): fc.Arbitrary<Sent[]> {
  const valid = fc.oneof(...schemas.map((schema) => values.of(schema, '')));
  const changed = fc.tuple(valid, PLACE, junk()).map(([frame, place, { value }]) => {
    const fields: [string, unknown][] = Object.entries(objectOf(frame));
    const index = place % Math.max(1, fields.length);
    const others = fields.flatMap(([name, field], each): [string, unknown][] => {
      if (each !== index) return [[name, field]];
      return place % 3 === 0 ? [] : [[name, value]];
    });
    return Object.fromEntries([...others, ['extra', value]]);
  });
  const written = (frame: fc.Arbitrary<unknown>) =>
    fc.tuple(frame, fc.nat(9)).map(([value, how]) => fine(writtenAs(value, how)));
  const civil = fc.oneof(
    { weight: 9, arbitrary: written(valid) },
    { weight: 2, arbitrary: written(changed) },
  );
  const rude = fc.oneof(
    { weight: 60, arbitrary: civil },
    { weight: 60, arbitrary: written(changed) },
    { weight: 20, arbitrary: fc.constantFrom(...TEXTS).map(fine) },
    { weight: 8, arbitrary: fc.constantFrom(...BOMBS).map((hex) => fine(Buffer.from(hex, 'hex'))) },
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 60 }).map((b) => fine(Buffer.from(b))) },
    {
      weight: 1,
      arbitrary: fc.constant({ bytes: 'x'.repeat(TOO_MUCH_BYTES), isTooMuch: true }),
    },
  );
  // The fifth bad frame ends a socket, so most talk to be heard.
  const size = { minLength: FRAMES_EACH, maxLength: FRAMES_EACH };
  return fc.oneof(
    { weight: 3, arbitrary: fc.array(civil, size) },
    { weight: 1, arbitrary: fc.array(rude, size) },
  );
}

function fine(bytes: Buffer | string): Sent {
  return { bytes, isTooMuch: false };
}

/** As JSON, as MessagePack, or either of them cut. */
function writtenAs(frame: unknown, how: number): Buffer | string {
  const json = JSON.stringify(frame);
  if (how < 5) return json;
  const packed = Buffer.from(encode(JSON.parse(json)));
  if (how < 9 || packed.length % 3 > 0) return packed;
  return packed.subarray(0, packed.length >> 1);
}
