/**
 * HTTP load from a separate process, on the client's core: `wrk` where it is on the PATH, else
 * autocannon, which asks less than half as fast and then is the limit itself.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isOnPath, onCore } from './processes.ts';

export interface Load {
  readonly port: number;
  /** POST comes without a body. */
  readonly method: 'GET' | 'POST';
  /** Asked for in turn, over and over. */
  readonly paths: readonly string[];
  /** More header lines: name to value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Requests sent ahead on each connection. */
  readonly pipelined: number;
  readonly seconds: number;
}

export interface Loaded {
  readonly requests: number;
  readonly seconds: number;
}

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1_048_576;

export const loader = isOnPath('wrk') ? 'wrk' : 'autocannon';

/** Throws when an answer was not 200, since those are cheaper. */
export async function load(options: Load): Promise<Loaded> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-load-'));
  try {
    return await (loader === 'wrk' ? wrk(options, directory) : autocannon(options, directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function wrk(options: Load, directory: string): Promise<Loaded> {
  const script = join(directory, 'requests.lua');
  writeFileSync(script, lua(options));
  const { port, connections, seconds } = options;
  const flags = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', script];
  const text = await output(['wrk', ...flags, `http://127.0.0.1:${port}`]);
  const [, requests, took] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? [];
  if (requests === undefined || /Non-2xx|Socket errors/.test(text)) {
    throw new Error(`wrk said: ${text}`);
  }
  return { requests: Number(requests), seconds: Number(took) };
}

/** Each call of `request` gives the next requests, as many as are sent ahead. */
function lua({ method, paths, headers, pipelined }: Load): string {
  const fields = Object.entries(headers).map(([name, value]) => `["${name}"]="${value}"`);
  return [
    `local paths = {${paths.map((path) => `"${path}"`).join(',')}}`,
    `local headers = {${fields.join(',')}}`,
    'local batches = {}',
    'local next = 0',
    'init = function()',
    '  for first = 1, #paths do',
    '    local batch = {}',
    `    for i = 0, ${pipelined - 1} do`,
    `      local path = paths[((first - 1) * ${pipelined} + i) % #paths + 1]`,
    `    batch[i + 1] = wrk.format("${method}", path, headers)`,
    '    end',
    '    batches[first] = table.concat(batch)',
    '  end',
    'end',
    'request = function()',
    '  next = next % #batches + 1',
    '  return batches[next]',
    'end',
  ].join('\n');
}

async function autocannon(options: Load, directory: string): Promise<Loaded> {
  const { port, method, paths, headers, pipelined, seconds } = options;
  const origin = `http://127.0.0.1:${port}`;
  const har = join(directory, 'requests.har');
  const lines = Object.entries(headers).map(([name, value]) => ({ name, value }));
  const entries = paths.map((path) => ({
    request: { method, url: `${origin}${path}`, headers: lines },
  }));
  writeFileSync(har, JSON.stringify({ log: { entries } }));
  // Its connections all walk the list in step, so with several the server's cache would hit.
  const connections = paths.length > 1 ? 1 : options.connections;
  const file = createRequire(import.meta.url).resolve('autocannon/autocannon.js');
  const flags = ['-c', connections, '-p', pipelined, '-d', seconds, '--har', har, '--json', '-n'];
  const text = await output([process.execPath, file, ...flags.map(String), origin]);
  // trust: the fields that autocannon documents for its JSON output
  const found = JSON.parse(text) as Record<'2xx' | 'non2xx' | 'errors' | 'duration', number>;
  if (found.non2xx + found.errors > 0) throw new Error(`autocannon said: ${text}`);
  return { requests: found['2xx'], seconds: found.duration };
}

async function output(command: readonly string[]): Promise<string> {
  const [program, args] = onCore('client', command);
  const { stdout } = await run(program, args, { maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}
