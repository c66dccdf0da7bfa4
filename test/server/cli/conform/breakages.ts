/**
 * For each clause of `conform` a server that breaks it: a proxy that alters the answers of a
 * correct server.
 */
import type {
  Alterations,
  SeenAnswer,
  SeenFrame,
  SeenRequest,
} from '../../../support/alteringProxy.ts';

type Row = Record<string, unknown>;

/** Frames of one event, other than snapshots unless `whole`. */
function changed(
  event: RegExp,
  change: (frame: SeenFrame, data: Row) => SeenFrame | null,
  whole = true,
): Alterations {
  return {
    frame: (frame) => {
      const isMeant = event.test(String(frame.event)) && (whole || frame.snapshot !== true);
      if (!isMeant) return [frame];
      const now = change(frame, (frame.data ?? {}) as Row);
      return now === null ? [] : [now];
    },
  };
}

const dropped = (event: RegExp): Alterations => changed(event, () => null);

function answered(
  path: RegExp,
  change: (answer: SeenAnswer, asked: SeenRequest) => SeenAnswer,
): Alterations {
  return { answer: (answer, asked) => (path.test(asked.path) ? change(answer, asked) : answer) };
}

/** Refusals become 200. */
const accepted = (path: RegExp): Alterations =>
  answered(path, (answer) => (answer.status >= 400 ? { ...answer, status: 200 } : answer));

/** JSON with one thing changed. */
function edited(path: RegExp, edit: (body: Row) => unknown): Alterations {
  return answered(path, (answer) => {
    try {
      const body = JSON.parse(answer.body.toString()) as Row;
      return { ...answer, body: Buffer.from(JSON.stringify(edit(body))) };
    } catch {
      return answer;
    }
  });
}

function withoutHeader(path: RegExp, ...names: string[]): Alterations {
  return answered(path, (answer) => {
    const headers = Object.entries(answer.headers).filter(([name]) => !names.includes(name));
    return { ...answer, headers: Object.fromEntries(headers) };
  });
}

/** The server never hears of `since`. */
const sinceless: Alterations = {
  said: (frame) => {
    const { topics } = frame as { topics?: Row[] };
    if (topics === undefined) return [frame];
    return [{ ...frame, topics: topics.map(({ since: _, ...rest }) => rest) }];
  },
};

const recoveredAlways = changed(/^Subscribed$/, (frame, data) => {
  return { ...frame, data: { ...data, recovered: true } };
});

/** Every change comes twice. */
const repeating: Alterations = {
  frame: (frame) => {
    const isChange = frame.event === 'TradesUpdate' && frame.snapshot !== true;
    return isChange ? [frame, frame] : [frame];
  },
};

const changeIn = (event: RegExp, field: string, value: unknown): Alterations =>
  changed(event, (frame, data) => ({ ...frame, data: { ...data, [field]: value } }));

const losing = (): Alterations => {
  let count = 0;
  return changed(
    /^TradesUpdate$/,
    (frame) => {
      count += 1;
      return count === 1 ? null : frame;
    },
    false,
  );
};

const backInTime = (): Alterations => {
  let time = 4_000_000_000;
  return changed(/^LastBarUpdate$/, (frame, data) => {
    time -= 60;
    return { ...frame, data: { ...data, time } };
  });
};

const SILENT = dropped(/./);
const TRADES = /^\/v1\/trades/;
const FOLLOWING = /^\/v1\/following/;
const REFUSED = (path: RegExp) => edited(path, ({ cause: _, ...rest }) => rest);

export const BREAKAGES: Readonly<Record<string, () => Alterations>> = {
  'order.snapshot': () =>
    changed(/^TradesUpdate$/, (frame) => ({ ...frame, snapshot: false, prev: 1 })),
  'order.ascending': () => repeating,
  'order.chain': losing,
  'order.fields': () => changed(/^TradesUpdate$/, ({ ts: _, ...frame }) => frame),
  'order.bars': backInTime,
  'order.book-checksum': () => changeIn(/^OrderBookUpdate$/, 'checksum', '00000001'),
  'order.list-checksum': () => changeIn(/^LatestUpdate$/, 'crc32', 1),
  'stream.msgpack': () => {
    let count = 0;
    return changed(/^PoolFeedUpdate$/, (frame, data) => {
      count += 1;
      return { ...frame, data: { ...data, count } };
    });
  },
  'stream.no-protocol': () => ({ close: () => 4000 }),
  'stream.unknown-subject': () => changed(/^PoolFeedUpdate$/, (frame) => ({ ...frame, data: {} })),
  'stream.replace': () => {
    let number = 0;
    // Each subscription gets its own id, so that none is replaced.
    return {
      said: (frame) => {
        number += 1;
        const { topics } = frame as { topics?: Row[] };
        if (topics === undefined) return [frame];
        return [{ ...frame, topics: topics.map((each) => ({ ...each, requestId: `s${number}` })) }];
      },
      frame: (frame) => [
        /^s\d$/.test(String(frame.requestId)) ? { ...frame, requestId: 's' } : frame,
      ],
    };
  },
  'stream.unsubscribe': () => ({
    said: (frame) => [
      frame.messageType === 'unsubscribe' ? { ...frame, requestId: 'other' } : frame,
    ],
  }),
  'stream.pong': () => dropped(/^Pong$/),
  'stream.heartbeat': () => dropped(/^Ping$/),
  'stream.many': () => dropped(/^Error$/),
  'resume.changes': () => sinceless,
  'resume.exact': () => sinceless,
  'resume.encodings': () => sinceless,
  'resume.http': () => sinceless,
  'loss.beyond': () => recoveredAlways,
  'loss.epoch': () => recoveredAlways,
  'loss.malformed': () => sinceless,
  'rollback.reported': () => dropped(/^BarsRevised$/),
  'rollback.state': () => ({
    frame: (frame) => {
      const rows = Array.isArray(frame.data) ? frame.data : [];
      return rows.some(({ removed }) => removed === true) ? [] : [frame];
    },
  }),
  'exact.pool': () => changeIn(/^PoolFeedUpdate$/, 'metrics', null),
  'exact.trades': () => changed(/^TradesUpdate$/, (frame) => ({ ...frame, data: [] })),
  'exact.bars': () => changeIn(/^LastBarUpdate$/, 'close', '1'),
  'exact.book': () => changeIn(/^OrderBookUpdate$/, 'spot', '1'),
  'exact.position': () => withoutHeader(TRADES, 'x-position'),
  'exact.min-position': () => ({
    request: (asked) => ({ ...asked, headers: { ...asked.headers, 'x-min-position': undefined } }),
  }),
  'errors.route': () => accepted(/nowhere/),
  'errors.asset': () => accepted(TRADES),
  'errors.method': () => withoutHeader(/time/, 'allow'),
  'errors.details': () => edited(/history/, ({ details: _, ...rest }) => rest),
  'errors.order': () => edited(TRADES, (body) => ({ ...body, cause: 'ASSET_NOT_FOUND' })),
  'errors.limit': () => ({
    request: (asked) => ({ ...asked, path: asked.path.replace('limit=0', 'limit=1') }),
  }),
  'errors.json': () => REFUSED(FOLLOWING),
  'errors.media-type': () => ({
    request: (asked) => {
      return { ...asked, headers: { ...asked.headers, 'content-type': 'application/json' } };
    },
  }),
  'errors.charset': () => accepted(FOLLOWING),
  'errors.utf8': () => ({
    request: (asked) => ({ ...asked, body: Buffer.from(`{"pkh":"${'0'.repeat(56)}"}`) }),
  }),
  'errors.too-large': () => ({ request: (asked) => ({ ...asked, body: Buffer.from('["a"]') }) }),
  'http.etag': () => withoutHeader(/initial/, 'etag'),
  'http.cors': () => withoutHeader(/time/, 'access-control-expose-headers'),
  'http.preflight': () => withoutHeader(FOLLOWING, 'access-control-allow-headers'),
  'http.unknown-parameter': () => answered(/tomorrow/, (answer) => ({ ...answer, status: 400 })),
  'http.csv': () => ({
    request: (asked) => ({ ...asked, path: asked.path.replace('&format=csv', '') }),
  }),
  'http.documents': () => edited(/asyncapi/, ({ channels: _, ...rest }) => rest),
  'limits.headers': () => withoutHeader(/./, 'ratelimit-remaining'),
  'limits.route': () => edited(/limits/, ({ classes: _, ...rest }) => rest),
  'limits.subscriptions': () => dropped(/^Error$/),
  'limits.topic': () => changeIn(/^Error$/, 'cause', 'NOT_FOUND'),
  'limits.frame': () => SILENT,
  'limits.bad-frames': () => ({ close: () => 4000 }),
  'sse.headers': () => withoutHeader(/stream/, 'cache-control'),
  'sse.ids': () => ({ event: (text) => text.replace(/^id: .*\n?/m, '') }),
  'sse.same': () => {
    return {
      frame: (frame) => [
        frame.requestId === 'e' && frame.snapshot === true ? { ...frame, data: {} } : frame,
      ],
    };
  },
  'sse.resume': () => ({
    request: (asked) => ({ ...asked, headers: { ...asked.headers, 'last-event-id': undefined } }),
  }),
  'sse.malformed': () => accepted(/stream/),
  'idempotency.replay': () => withoutHeader(/order/, 'idempotency-replayed'),
  'idempotency.conflict': () => ({
    request: (asked) => ({ ...asked, headers: { ...asked.headers, 'idempotency-key': undefined } }),
  }),
  'idempotency.form': () => accepted(/order/),
};

/**
 * Clauses about bytes that a proxy would have to read itself: a bare HTTP server breaks them by
 * executing requests that it should refuse.
 */
export const LENIENT = [
  'http.two-lengths',
  'http.transfer-encoding',
  'http.two-hosts',
  'http.head',
];
