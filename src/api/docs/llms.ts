/**
 * `/llms.txt` (llmstxt.org) and `/llms-full.txt`: the same documents for language models, as
 * Markdown. The first lists the parts, the second has the whole text.
 */

import type { JsonObject } from './definitions.ts';
import { SOCKET_GUIDE } from './guide.ts';
import { entriesAt, listAt, textAt } from './page/read.ts';

export function llmsText(openapi: JsonObject, asyncapi: JsonObject): string {
  const listed = operationsOf(openapi).filter(({ name }) => !name.startsWith('GET /docs/'));
  const routes = listed.map(({ name, operation }) => {
    return `- \`${name}\`: ${textAt(operation, 'summary')}`;
  });
  const topics = topicsOf(asyncapi).map(([name, about]) => `- \`${name}\`: ${about}`);
  return [
    `# ${textAt(openapi, 'info', 'title')}`,
    '> The server behind a token launchpad on Cardano: orders, launches and exact candlesticks ' +
      'over HTTP, WebSocket, server-sent events, webhooks and MCP.',
    'Amounts are texts of integers, prices exact decimals. Transactions are built here and ' +
      'signed by wallets: the server never has their keys.',
    '## Documents',
    [
      '- [Everything in one text](/llms-full.txt): rules, routes with their parameters, topics',
      '- [OpenAPI](/v1/docs/openapi.json): every route',
      '- [AsyncAPI](/v1/docs/asyncapi.json): every topic of the socket',
      '- [Reference](/docs): the same as a page for people',
    ].join('\n'),
    '## Routes',
    routes.join('\n'),
    '## Topics',
    topics.join('\n'),
    '',
  ].join('\n\n');
}

export function llmsFullText(openapi: JsonObject, asyncapi: JsonObject): string {
  const routes = operationsOf(openapi).map(({ name, operation }) => routeText(name, operation));
  const topics = topicsOf(asyncapi).map(([name, about]) => `### ${name}\n\n${about}`);
  return [
    `# ${textAt(openapi, 'info', 'title')} ${textAt(openapi, 'info', 'version')}`,
    textAt(openapi, 'info', 'description'),
    '## Routes',
    'Schemas of bodies and answers are in [OpenAPI](/v1/docs/openapi.json).',
    ...routes,
    SOCKET_GUIDE,
    '## Topics',
    'Schemas are in [AsyncAPI](/v1/docs/asyncapi.json).',
    ...topics,
    '',
  ].join('\n\n');
}

function operationsOf(openapi: JsonObject) {
  return entriesAt(openapi, 'paths').flatMap(([path, methods]) =>
    entriesAt(methods).map(([method, operation]) => {
      return { name: `${method.toUpperCase()} ${path}`, operation };
    }),
  );
}

function routeText(name: string, operation: JsonObject[string]): string {
  const parameters = listAt(operation, 'parameters').map((each) => {
    const about = textAt(each, 'description');
    const [named, place] = [textAt(each, 'name'), textAt(each, 'in')];
    return `- \`${named}\` (${place})${about === '' ? '' : `: ${about}`}`;
  });
  const answers = entriesAt(operation, 'responses').map(([status, response]) => {
    return `- ${status}: ${textAt(response, 'description')}`;
  });
  const summary = textAt(operation, 'summary');
  const description = textAt(operation, 'description');
  const about = description === `${summary}.` ? description : `${summary}. ${description}`;
  const taken = parameters.length === 0 ? [] : [`Takes:\n\n${parameters.join('\n')}`];
  return [`### ${name}`, about, ...taken, `Answers:\n\n${answers.join('\n')}`].join('\n\n');
}

function topicsOf(asyncapi: JsonObject): [string, string][] {
  return entriesAt(asyncapi, 'channels').map(([name, channel]) => {
    const about =
      textAt(channel, 'description') || textAt(channel, 'summary') || textAt(channel, 'title');
    return [name, about];
  });
}
