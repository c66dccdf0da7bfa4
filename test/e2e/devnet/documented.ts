/**
 * `fetch` that holds every JSON answer against the document that the server serves. Differences are
 * reported at the end of the test, so that no client takes them for a failure of the network.
 */
import assert from 'node:assert/strict';
import type { Fetch } from '../../../src/client/index.ts';
import type { Scope } from '../../support/server.ts';
import { Documents } from '../api/conforms.ts';

const MAX_TOLD = 5;

export async function documentedFetch(scope: Scope, url: string): Promise<Fetch> {
  const documents = await Documents.read(url);
  const faults: string[] = [];
  scope.after(() => {
    assert.deepEqual(faults.slice(0, MAX_TOLD), [], 'every answer is as documented');
  });
  return async (address, init) => {
    const response = await fetch(address, init);
    if (response.headers.get('content-type') !== 'application/json') return response;
    const text = await response.clone().text();
    const { pathname } = new URL(address);
    const route = documents.routeOf(init.method ?? 'GET', pathname);
    if (route === null) return response;
    try {
      documents.answer(route, response.status, JSON.parse(text));
    } catch (error) {
      faults.push(`${error instanceof Error ? error.message : error}: ${text.slice(0, 500)}`);
    }
    return response;
  };
}
