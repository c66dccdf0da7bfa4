/** Our server as one node among several; `settings` as JSON, and the pace of its traders. */
import { readTraderConfig } from '../../src/client/traders/config.ts';
import { startBenchApp } from '../support/marketApp.ts';
import { offer, usageOffers } from '../support/offers.ts';

export type ClusterNode = typeof offers;

const [, , settings = '{}', pace = '0'] = process.argv;
// trust: the bench that starts this process writes it
const given = JSON.parse(settings) as Record<string, string>;
const devnet = { traders: readTraderConfig(), pace: Number(pace), seed: 1 };
const app = await startBenchApp(given, devnet);

const offers = {
  ...usageOffers(),
  port: () => app.port,
  seq: () => app.node.applied().seq,
  role: () => (app.chain?.roles?.leads() === true ? 'leader' : 'follower'),
  stop: () => app.stop('the bench is over'),
};

offer(offers);
