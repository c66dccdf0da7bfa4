/** Server-sent events, however a network cuts them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventText } from '../../src/client/socket/eventLink.ts';

const TEXT =
  'retry: 1000\n:\nevent: A\ndata: {"n":1}\n\nevent: B\ndata:two\r\ndata: lines\nid: 1\n\n:\n\n';

test('the data of each event, cut anywhere', () => {
  const cuts = fc.array(fc.nat(TEXT.length), { maxLength: 8 });
  fc.assert(
    fc.property(cuts, (places) => {
      const ends = [...places.sort((a, b) => a - b), TEXT.length];
      const text = new EventText();
      const found = ends.flatMap((end, index) => text.add(TEXT.slice(ends[index - 1] ?? 0, end)));
      assert.deepEqual(found, ['{"n":1}', 'two\nlines']);
    }),
  );
});
