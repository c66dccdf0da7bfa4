/** One request for messages of a consumer: as many as were asked for, or all that it has. */
import { isFault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { createInbox, type Msg, type NatsLink } from './connection.ts';
import { deliveryOf, type StoredMessage } from './stream.ts';

export interface BatchSource {
  readonly link: NatsLink;
  readonly stream: string;
  readonly clock: Clock;
}

export interface Batch {
  readonly messages: readonly StoredMessage[];
  /** The consumer can be used again. */
  readonly alive: boolean;
}

const SILENCE_MS = 5_000;
const BATCH_BYTES = 8 * 1024 * 1024;

/** At most `limit` messages and 8 MiB. */
export async function fetchBatch(
  { link, stream, clock }: BatchSource,
  consumer: string,
  limit: number,
): Promise<Batch> {
  const { connection } = link;
  const inbox = createInbox();
  const messages: StoredMessage[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  const silence = () => clock.after(SILENCE_MS, () => end(false));
  let timer = silence();
  const take = (message: Msg) => {
    const delivery = deliveryOf(message);
    if (delivery === null) return end(isEndOfBatch(message));
    messages.push({ seq: delivery.seq, subject: message.subject, data: message.data });
    if (delivery.pending === 0 || messages.length === limit) return end(true);
    if (messages.length % 64 !== 0) return;
    timer.cancel();
    timer = silence();
  };
  const ask = async () => {
    const subscription = connection.subscribe(inbox, {
      callback: (_error, message) => take(message),
    });
    const request = { batch: limit, no_wait: true, max_bytes: BATCH_BYTES };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    connection.publish(subject, JSON.stringify(request), { reply: inbox });
    const alive = await ended;
    subscription.unsubscribe();
    return alive;
  };
  // Without a connection: answer the messages that have arrived, and drop the consumer.
  const alive = await link.whileConnected(ask).catch((error) => {
    if (isFault(error, 'natsSilent')) return false;
    throw error;
  });
  timer.cancel();
  end(false);
  return { messages, alive };
}

const NO_MESSAGES = 404;
const TIMEOUT = 408;

/** The end of this request; the consumer is alive. */
function isEndOfBatch({ headers }: Msg): boolean {
  const code = headers?.code ?? 0;
  if (code === NO_MESSAGES || code === TIMEOUT) return true;
  return /max ?bytes/i.test(headers?.description ?? '');
}
