/** Controls real servers of NATS and their disks, for the contract of NATS. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerControl } from '../contracts/natsRing.ts';
import { NATS_CONF, NatsServer, startNatsCluster } from './nats.ts';
import { type Scope, temporaryDirectory } from './server.ts';

const LITTLE_ROOM = '150KB';
const ROOM = '1GB';

/** `servers` are one cluster, or one server alone. */
export function controlOf(
  servers: readonly NatsServer[],
  scope: Scope,
  program: string,
): ServerControl {
  const isAlone = servers.length === 1;
  const names = servers.map((_, index) => (isAlone ? 'upcurve' : `s${index}`));
  const at = (name: string) => servers[names.indexOf(name)] ?? assert.fail(`no server ${name}`);
  return {
    names,
    connect: (test, name) => at(name).connect(test),
    kill: (name) => at(name).kill(),
    stop: (name) => at(name).kill('SIGTERM'),
    start: (name) => at(name).start(),
    async copyDisk(name) {
      const { directory } = at(name);
      const copy = temporaryDirectory(scope);
      cpSync(directory, copy, { recursive: true });
      return async () => {
        rmSync(directory, { recursive: true });
        cpSync(copy, directory, { recursive: true });
      };
    },
    async flipBit(name, stream, text) {
      const flipped = blocksOf(at(name).directory, stream).filter((file) => flipBit(file, text));
      assert.equal(flipped.length, 1, `"${text}" is in one block on the disk`);
    },
    async crowded(test) {
      const conf = join(temporaryDirectory(test), 'nats.conf');
      writeFileSync(conf, confWith(LITTLE_ROOM));
      const little = isAlone
        ? [await NatsServer.start(test, [], conf, program)]
        : await startNatsCluster(test, program, servers.length, conf);
      const [first] = little;
      assert.ok(first !== undefined);
      return {
        connect: (inside) => first.connect(inside),
        async enlarge() {
          writeFileSync(conf, confWith(ROOM));
          for (const server of little) await server.restart();
        },
      };
    },
  };
}

function confWith(room: string): string {
  return readFileSync(NATS_CONF, 'utf8').replace(/max_file_store: \S+/, `max_file_store: ${room}`);
}

function blocksOf(directory: string, stream: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.includes(`/streams/${stream}/msgs/`) && file.endsWith('.blk'))
    .map((file) => join(directory, file))
    .filter((file) => statSync(file).isFile());
}

function flipBit(file: string, text: string): boolean {
  const bytes = readFileSync(file);
  // The id of a message is the same text, and lies before it.
  const index = bytes.lastIndexOf(text);
  if (index < 0) return false;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
  writeFileSync(file, bytes);
  return true;
}
