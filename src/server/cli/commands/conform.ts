import { parseDurationMs } from '../amounts.ts';
import { command, textOf } from '../command.ts';
import { serverOf } from './server.ts';

export interface ConformCommand {
  readonly name: 'conform';
  readonly url: string;
  /** Whether faucet and forks of a devnet may be used. */
  readonly mayChange: boolean;
  /** How long a change of the market is waited for. */
  readonly waitMs: number;
  /** Where to write the badge; null: nowhere. */
  readonly badge: string | null;
}

const WAIT = '20s';

export const CONFORM = command({
  name: 'conform',
  group: 'server',
  uses: [['URL', 'which promises of the documents a server keeps; a table']],
  options: {
    devnet: { about: "also what needs a devnet's faucet and forks, which change its chain" },
    wait: { value: '20s', about: 'how long it waits for a change of the market (default 20s)' },
    badge: { value: 'FILE', about: 'writes an SVG for a README' },
  },
  takes: 1,
  parse([url], { devnet, wait, badge }): ConformCommand | string {
    if (url === undefined) {
      return 'conform takes the URL of a server: conform http://127.0.0.1:8080';
    }
    const base = serverOf(url);
    if (base === null) return `${url} is no http(s) URL of a server`;
    const waitMs = parseDurationMs(String(wait ?? WAIT));
    if (waitMs === null) return '--wait takes a duration such as 20s';
    const mayChange = devnet === true;
    return { name: 'conform', url: base, mayChange, waitMs, badge: textOf(badge) };
  },
  async run(args, shell) {
    const { runConform } = await import('../conform/run.ts');
    return runConform(args, shell);
  },
});
