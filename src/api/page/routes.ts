/**
 * Serves the page at `/`, and its files below `/assets/`. The name of each file holds a hash of its
 * content, so a browser may cache it for good, and never mixes two versions.
 */
import Type from 'typebox';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import {
  HOME_HEAD,
  NO_SNIFFING,
  PAGE_ROUTE,
  PAGE_TYPE,
  type PageFacts,
  pageAnswer,
} from './document.ts';
import { pageFiles } from './files.ts';

export function pageRoutes(facts: PageFacts): readonly Route[] {
  return [pageRoute(facts), fileRoute()];
}

function pageRoute(facts: PageFacts): Route {
  return route({
    ...PAGE_ROUTE,
    path: '/',
    operationId: 'page',
    summary: 'The market as a page',
    answers: { 200: { description: 'The page', type: PAGE_TYPE } },
    handle: () => pageAnswer(HOME_HEAD, facts),
  });
}

/** For browsers, at every path that no route takes: the page, which says so. */
export function missingPageRoute(facts: PageFacts): Route {
  const head = {
    title: 'No such page · upcurve',
    description: 'Nothing is at this address.',
    more: '<meta name="robots" content="noindex">\n',
  };
  return route({
    ...PAGE_ROUTE,
    rate: 'read',
    path: '/*',
    operationId: 'missingPage',
    summary: 'The page, for an address that does not exist',
    answers: { 404: { description: 'The page, which says so', type: PAGE_TYPE } },
    handle: () => pageAnswer(head, facts, 404),
  });
}

function fileRoute(): Route {
  const headers = {
    ...NO_SNIFFING,
    'Cache-Control': 'public, max-age=31536000, immutable',
  };
  return route({
    ...PAGE_ROUTE,
    path: '/assets/:name',
    operationId: 'pageFile',
    summary: 'A file of the page',
    params: Type.Object({ name: Type.String({ maxLength: 128 }) }),
    answers: { 200: { description: 'The file', type: '*/*' } },
    causes: ['NOT_FOUND'],
    async handle({ params: { name } }) {
      const file = (await pageFiles()).all.get(name);
      if (file === undefined) {
        return new Failure('NOT_FOUND', `The page has no file ${name}; load the page again.`);
      }
      const { body, type, encoded } = file;
      return { body, type, encoded, tag: name, headers };
    },
  });
}
