/**
 * Appends as version 0.4 does: pipelined, on a subject for each kind of entry, behind the last
 * sequence and the id of the last message. During an upgrade such nodes write beside new ones.
 */
import { headers, type NatsLink } from '../../src/cluster/nats/connection.ts';
import type { SealedEntry } from '../../src/engine/log/entry.ts';

/** Longest answer time of a server on an overloaded machine. */
const PATIENT_MS = 20_000;

interface Acknowledgement {
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code: number };
}

/** Publishes all at once; says which were stored at their seq. */
export function appendAs04(
  link: NatsLink,
  market: string,
  entries: readonly SealedEntry[],
): Promise<boolean[]> {
  return Promise.all(entries.map((sealed) => publish(link, market, sealed)));
}

async function publish(link: NatsLink, market: string, sealed: SealedEntry): Promise<boolean> {
  const { epoch, seq, prevEntryHash, payload } = sealed.entry;
  const about = headers();
  about.set('Nats-Msg-Id', `${epoch}/${seq}/${sealed.hash}`);
  about.set('Nats-Expected-Last-Sequence', `${seq - 1}`);
  if (seq > 1) about.set('Nats-Expected-Last-Msg-Id', `${epoch}/${seq - 1}/${prevEntryHash}`);
  const options = { headers: about, timeout: PATIENT_MS };
  const subject = `${market}.entry.${payload.kind}`;
  const said = await link.connection.request(subject, sealed.text, options);
  const { error, seq: at, duplicate } = said.json<Acknowledgement>();
  return error === undefined && at === seq && duplicate !== true;
}
