/** The part of the API that is about consumers. */
import { apiErrors } from './apiError.ts';
import { Consumer, type ConsumerConfig } from './consumer.ts';
import type { ApiRequest, JetStream } from './jetstream.ts';
import type { Replica } from './replica.ts';
import type { Stream } from './stream.ts';
import { bodyOf } from './streamApi.ts';

export class ConsumerApi {
  readonly #jetstream: JetStream;

  constructor(jetstream: JetStream) {
    this.#jetstream = jetstream;
  }

  /** false: there is no consumer that takes this request for messages. */
  ask(request: ApiRequest): boolean {
    const [, verb = '', stream = '', name = '', last = ''] = request.tokens;
    if (verb === 'CREATE') this.#create(request, stream, name);
    if (verb === 'DURABLE') this.#create(request, name, last);
    if (verb === 'INFO') this.#info(request, stream, name);
    if (verb === 'DELETE') this.#delete(request, stream, name);
    if (verb === 'NAMES') this.#names(request, stream);
    // MSG.NEXT.<stream>.<consumer>
    return verb === 'MSG' ? this.#next(request, name, last) : true;
  }

  #create(request: ApiRequest, streamName: string, named: string): void {
    const type = 'consumer_create_response';
    const manager = this.#jetstream.managerFor(request.server);
    const stream = this.#jetstream.streams.get(streamName);
    if (manager === null || stream === undefined) {
      const error = manager === null ? apiErrors.unavailable : apiErrors.streamNotFound;
      this.#jetstream.answer(request, request.server, type, { error });
      return;
    }
    const replica = this.#place(stream);
    if (replica === null) return;
    // trust: the project's clients send this shape
    const { config = {} } = bodyOf<{ config: ConsumerConfig }>(request);
    const { rng } = replica.server.network;
    const name = config.durable_name ?? config.name ?? (named === '' ? rng.token(8) : named);
    const { router, rules, nowMs } = this.#jetstream;
    const there = stream.consumers.get(name);
    const consumer =
      there ??
      new Consumer({
        name,
        stream: streamName,
        config,
        replica,
        router,
        version: rules.version,
        createdMs: nowMs,
        expired: () => stream.consumers.delete(name),
      });
    stream.consumers.set(name, consumer);
    const info = consumer.info();
    // A push may arrive before the answer.
    consumer.wake();
    this.#jetstream.answer(request, consumer.deps.replica.server, type, info);
  }

  /** Any copy that its server can serve; it may lag. */
  #place({ replicas }: Stream): Replica | null {
    const working = replicas.all.filter(({ server }) => server.isUp);
    const [first] = working;
    if (first === undefined || working.length === 1) return first ?? null;
    const { rng } = first.server.network;
    return working[Math.floor(rng.unit() * working.length)] ?? null;
  }

  #found(request: ApiRequest, stream: string, name: string, type: string): Consumer | null {
    const found = this.#jetstream.streams.get(stream);
    const consumer = found?.consumers.get(name);
    const manager = this.#jetstream.managerFor(request.server);
    if (consumer === undefined) {
      const missing = found === undefined ? apiErrors.streamNotFound : apiErrors.consumerNotFound;
      const error = manager === null ? apiErrors.unavailable : missing;
      this.#jetstream.answer(request, manager ?? request.server, type, { error });
      return null;
    }
    const { server } = consumer.deps.replica;
    const isReached = server.works && request.server.reaches(server);
    return isReached && !consumer.isMute ? consumer : null;
  }

  #info(request: ApiRequest, stream: string, name: string): void {
    const type = 'consumer_info_response';
    const consumer = this.#found(request, stream, name, type);
    if (consumer === null) return;
    this.#jetstream.answer(request, consumer.deps.replica.server, type, consumer.info());
  }

  #delete(request: ApiRequest, stream: string, name: string): void {
    const type = 'consumer_delete_response';
    const consumer = this.#found(request, stream, name, type);
    if (consumer === null) return;
    consumer.end('Consumer Deleted');
    this.#jetstream.streams.get(stream)?.consumers.delete(name);
    this.#jetstream.answer(request, consumer.deps.replica.server, type, { success: true });
  }

  #names(request: ApiRequest, stream: string): void {
    const consumers = [...(this.#jetstream.streams.get(stream)?.consumers.keys() ?? [])].sort();
    const paged = { total: consumers.length, offset: 0, limit: 1_024 };
    const type = 'consumer_names_response';
    this.#jetstream.answer(request, request.server, type, { ...paged, consumers });
  }

  #next({ packet, server }: ApiRequest, stream: string, name: string): boolean {
    const consumer = this.#jetstream.streams.get(stream)?.consumers.get(name);
    if (consumer === undefined) return false;
    const there = consumer.deps.replica.server;
    if (!there.works || !server.reaches(there)) return false;
    consumer.pull(packet.reply, Buffer.from(packet.data).toString('utf8'));
    return true;
  }
}
