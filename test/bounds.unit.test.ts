/**
 * Everything that a server keeps in memory has a bound. Each map and set in a field or of a module
 * is named here by what bounds it, and each cache states a maximum: a new one fails this test until
 * it is named.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOMS = ['api', 'chain', 'cardano', 'devnet', 'engine', 'server'];
/** A field or a constant that begins as a map or a set, not as a list of constants. */
const KEPT = new RegExp(
  `^(?:${[
    ' {2}(?:static )?(?:readonly )?(#?\\w+)(?:: [^=]+)?',
    '(?:export )?const (\\w+)(?:: [^=]+)?',
    ' {4}this\\.(#\\w+)',
  ].join('|')}) = new (?:Map|Set)\\b(?!\\(\\[|\\(Object)`,
);

const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  'a maximum, after which the oldest go or all do': [
    'api/charts/pageFile.ts #series',
    'api/gateway/address.ts #peers',
    'api/images/folder.ts #kept',
    'api/tickers/rankings.ts #making',
    'chain/localMempoolFeed.ts #unshown',
    'chain/ogmios/ogmiosClient.ts #passedOver',
    'chain/ogmios/nodeQueries.ts #ours',
    'cardano/transactions/unitsCheck.ts #equal',
    'cardano/ledger/utxoSet.ts credentials',
    'devnet/ledger.ts #reasons',
    'engine/pools/poolActor.ts #depths',
    'engine/pools/poolActors.ts #books',
    'engine/pools/tradedPairs.ts #loaded',
    'engine/pools/recentBars.ts #joined #closes',
  ],
  'requests, sockets and subscriptions that are open, each with a limit per caller': [
    'api/gateway/positionWaiters.ts #perOwner #waiters',
    'api/http/body.ts #ofCallers',
    'api/http/idempotency.ts #running',
    'api/http/responseWriter.ts #running',
    'api/images/folder.ts #running',
    'api/topics/hub.ts #streams #byTag',
    'api/topics/outbox.ts #recipients',
    'api/topics/stream.ts #groups',
    'api/webhooks/sender.ts #running',
    'api/ws/connection.ts requested subscriptions',
    'api/ws/heartbeat.ts #sockets',
    'api/ws/pendingStarts.ts #queues',
    'api/ws/socketCounts.ts #counts',
    'api/ws/streamCounts.ts #byCaller',
    'chain/mempoolOverlay.ts #awaited',
    'chain/ogmios/connection.ts #requests',
    'cardano/transactions/builderThreads.ts #ending',
    'devnet/ogmios/server.ts #sessions',
    'engine/runtime/slices.ts #works',
    'engine/runtime/thread.ts #waiting',
    'engine/store/keyedRows.ts #held',
  ],
  'twenty webhooks for each API key': [
    'api/webhooks/deliveries.ts #deliveries #byTag #tagsOf #changed #inFlightOf',
  ],
  'names in the code, the settings or a file of the operator': [
    'api/docs/browser/page.ts texts',
    'api/docs/definitions.ts #schemas',
    'api/gateway/apiKeys.ts #byHash #byName',
    'api/http/query.ts #names #repeated',
    'api/http/responseWriter.ts #last',
    'api/topics/flush.ts #queues',
    'api/webhooks/deliveries.ts #topics',
    'api/ws/subscriptions.ts #topics',
    'chain/foldUtxoLookup.ts #scripts #scriptRefs',
    'chain/pendingTransactions.ts LOGGED',
    'chain/ogmios/transactionFilter.ts #policies',
    'devnet/outputSearch.ts #statements',
    'engine/runtime/reasons.ts #messages',
    'engine/store/changeIndex.ts #scopes',
    'engine/store/keyedRows.ts #sorted',
    'engine/store/pageChecksums.ts kept',
    'server/cli/load/threadCounts.ts #routes',
    'server/cli/load/totals.ts routes',
  ],
  'parts of this process': [
    'api/webhooks/sharedStore.ts #listeners',
    'api/webhooks/sqliteStore.ts #listeners',
    'chain/ogmios/ogmiosClient.ts #streams #pulls',
    'chain/ogmios/ogmios.ts #listeners',
    'devnet/servedLedger.ts #listeners',
    'engine/node/foldListeners.ts #all',
    'engine/directory/tickerChanges.ts #followers',
    'engine/runtime/task.ts #sleepers',
  ],
  'one call, block or batch: it goes with it': [
    'api/holders/portfolioHistory.ts #known',
    'cardano/transactions/change.ts #amounts #bundleOf #reserved #names',
    'cardano/transactions/selection.ts #left',
    'chain/kupo/kupo.ts #made #spent',
    'chain/recognise/knownState.ts #pools #orders #locks #watched #spent',
    'engine/fold/rowDraft.ts tags #rows #streamChanges',
    'engine/fold/trustRows.ts #moved',
    'engine/ingest/drafter.ts #pairs',
  ],
  'pending transactions, which cost their senders fees and leave the mempool': [
    'cardano/ledger/mempool.ts #waiting #spentBy #made',
    'chain/ogmios/nodeStream.ts #accepted #reasons #pending #spenders',
    'devnet/servedLedger.ts #waiting',
    'chain/ogmios/outbox.ts #sent #missingSinceMs',
    'chain/pendingTransactions.ts #pendingById #spentBy',
    'devnet/ledger.ts #returning',
    'engine/fold/mempoolRows.ts #records #placed #ends #parts #byToken #byKey #launches',
  ],
  'what is on the chain or in the feed, within the horizon of rollbacks where it is of blocks': [
    'engine/pools/openOrders.ts #anyPrice #orders',
    'cardano/ledger/utxoSet.ts #byRef #byCredential #byAsset',
    'chain/executor/executor.ts #executors #running #tasks',
    'chain/executor/fundingUtxos.ts #reserved',
    'chain/executor/poolBackoff.ts #steps',
    'chain/executor/wakeups.ts #untilBlock #times',
    'chain/ogmios/recentBlocks.ts #ids',
    'chain/ogmios/transactionFilter.ts #refs',
    'devnet/node.ts #written',
    'engine/pools/barEndSchedule.ts #pairs',
    'engine/directory/authors.ts #byKey',
    'engine/directory/directory.ts #rows',
    'engine/node/marketTimeDrafter.ts #endsMs',
    'engine/pools/tradedPairs.ts #quarantined',
    'engine/pools/poolTicker.ts #traded',
    'engine/pools/poolActors.ts #byPair #byQuote',
    'engine/directory/tickerChanges.ts #changed #traded',
    'engine/directory/tickerLists.ts #lists #changed #places',
    'engine/store/barsView.ts #ending',
    'engine/store/pendingBars.ts #slots #pairs restored',
    'engine/store/tradeIds.ts #index',
  ],
  nothing: ['cardano/ledger/utxoSet.ts NONE', 'chain/executor/matching.ts NO_STEPS NO_ORDERS'],
};

function sources(): { file: string; text: string }[] {
  return ROOMS.flatMap((room) =>
    readdirSync(join('src', room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({
        file: `${room}/${name}`,
        text: readFileSync(join('src', room, name), 'utf8'),
      })),
  );
}

test('every map and set that is kept is named with its bound', () => {
  const named = Object.values(BOUNDS)
    .flat()
    .flatMap((line) => {
      const [file, ...fields] = line.split(' ');
      return fields.map((field) => `${file} ${field}`);
    });
  const found = sources().flatMap(({ file, text }) =>
    text.split('\n').flatMap((line) => {
      const [, field, constant, later] = KEPT.exec(line) ?? [];
      const name = field ?? constant ?? later;
      return name === undefined ? [] : [`${file} ${name}`];
    }),
  );
  assert.deepEqual([...new Set(found)].toSorted(), [...new Set(named)].toSorted());
});

test('every cache states a maximum', () => {
  const without = sources().flatMap(({ file, text }) =>
    Array.from(
      text.matchAll(/new (?:LRU|Versioned)Cache[^(]*\(([^;]*?)\);/gs),
      ([, options = '']) => options,
    )
      .filter((options) => options !== 'options' && !/\bmax(?:Size)?\b/.test(options))
      .map((options) => `${file}: ${options}`),
  );
  assert.deepEqual(without, []);
});
