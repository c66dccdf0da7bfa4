/** The part of the API that is about streams and their messages. */
import type { MsgHdrsImpl } from '@nats-io/transport-node';
import { matches } from '../interest.ts';
import { type ApiError, apiErrors } from './apiError.ts';
import { completed, overlaps, refusalOf, refusalOfChange, type StreamConfig } from './config.ts';
import type { ApiRequest, JetStream } from './jetstream.ts';
import type { Replica } from './replica.ts';
import type { StoredMessage } from './store.ts';
import type { Stream } from './stream.ts';

const NO_TIME = '0001-01-01T00:00:00Z';

interface GetRequest {
  readonly seq?: number;
  readonly last_by_subj?: string;
  readonly next_by_subj?: string;
}

interface PurgeRequest {
  readonly filter?: string;
  readonly seq?: number;
  readonly keep?: number;
}

export class StreamApi {
  readonly #jetstream: JetStream;

  constructor(jetstream: JetStream) {
    this.#jetstream = jetstream;
  }

  /** `STREAM.<verb>.<name>`, or `STREAM.MSG.<verb>.<name>`. */
  ask(request: ApiRequest): void {
    const [, verb = '', name = '', last = ''] = request.tokens;
    if (verb === 'MSG') {
      if (name === 'GET') this.#get(request, last);
      if (name === 'DELETE') this.#remove(request, last);
      return;
    }
    // PEER.REMOVE.<stream>, LEADER.STEPDOWN.<stream>
    if (verb === 'PEER') this.#removePeer(request, last);
    if (verb === 'LEADER') this.#stepDown(request, last);
    if (verb === 'CREATE') this.#create(request, name);
    if (verb === 'UPDATE') this.#update(request, name);
    if (verb === 'INFO') this.#info(request, name);
    if (verb === 'DELETE') this.#delete(request, name);
    if (verb === 'PURGE') this.#purge(request, name);
    if (verb === 'NAMES') this.#names(request);
    if (verb === 'LIST') this.#list(request);
  }

  #create(request: ApiRequest, name: string): void {
    const type = 'stream_create_response';
    const manager = this.#jetstream.managerFor(request.server);
    if (manager === null) {
      this.#answer(request, type, { error: apiErrors.unavailable });
      return;
    }
    const config = completed({ ...bodyOf<Partial<StreamConfig>>(request), name });
    const there = this.#jetstream.streams.get(name);
    if (there !== undefined) {
      const isSame = sameConfig(there.config, config);
      const body = isSame
        ? { ...this.#describe(there), did_create: true }
        : { error: apiErrors.nameInUse };
      this.#jetstream.answer(request, manager, type, body);
      return;
    }
    const error =
      this.#unplaced(config) ??
      (this.#overlaps(config) ? apiErrors.overlap : null) ??
      refusalOf(config);
    if (error !== null) {
      this.#jetstream.answer(request, manager, type, { error });
      return;
    }
    const stream = this.#jetstream.create(config);
    const body = { ...this.#describe(stream), did_create: true };
    this.#jetstream.answer(request, manager, type, body);
  }

  #update(request: ApiRequest, name: string): void {
    const type = 'stream_update_response';
    const manager = this.#jetstream.managerFor(request.server);
    const stream = this.#jetstream.streams.get(name);
    if (manager === null || stream === undefined) {
      const error = manager === null ? apiErrors.unavailable : apiErrors.streamNotFound;
      this.#answer(request, type, { error });
      return;
    }
    const config = completed({ ...bodyOf<Partial<StreamConfig>>(request), name });
    const error = this.#unplaced(config) ?? refusalOfChange(stream.config, config);
    if (error === null) this.#jetstream.update(stream, config);
    const body = error === null ? this.#describe(stream) : { error };
    this.#jetstream.answer(request, manager, type, body);
  }

  #info(request: ApiRequest, name: string): void {
    const type = 'stream_info_response';
    const found = this.#jetstream.leaderOf(request, name, type);
    if (found === null) return;
    const [stream, leader] = found;
    const { subjects_filter = '' } = bodyOf<{ subjects_filter?: string }>(request);
    const subjects = leader.machine.store.subjects(subjects_filter);
    const info = this.#describe(stream, leader);
    const state =
      subjects_filter === ''
        ? info.state
        : { ...info.state, subjects: Object.fromEntries(subjects) };
    const paged = { total: subjects.length, offset: 0, limit: 0 };
    this.#jetstream.answer(request, leader.server, type, { ...paged, ...info, state });
  }

  #delete(request: ApiRequest, name: string): void {
    const type = 'stream_delete_response';
    const manager = this.#jetstream.managerFor(request.server);
    const stream = this.#jetstream.streams.get(name);
    if (manager === null || stream === undefined) {
      const error = manager === null ? apiErrors.unavailable : apiErrors.streamNotFound;
      this.#answer(request, type, { error });
      return;
    }
    this.#jetstream.delete(stream);
    this.#jetstream.answer(request, manager, type, { success: true });
  }

  #purge(request: ApiRequest, name: string): void {
    const type = 'stream_purge_response';
    const found = this.#jetstream.leaderOf(request, name, type);
    if (found === null) return;
    const [, leader] = found;
    const { filter = '', seq = 0, keep = 0 } = bodyOf<PurgeRequest>(request);
    if (seq > 0 && keep > 0) {
      const body = { error: apiErrors.badRequest, purged: 0 };
      this.#jetstream.answer(request, leader.server, type, body);
      return;
    }
    leader.propose({ op: 'purge', filter, seq, keep }, (result) => {
      const purged = result.applied === 'removed' ? result.count : 0;
      this.#jetstream.answer(request, leader.server, type, { success: true, purged });
    });
  }

  #get(request: ApiRequest, name: string): void {
    const type = 'stream_msg_get_response';
    const found = this.#jetstream.leaderOf(request, name, type);
    if (found === null) return;
    const [, leader] = found;
    const { store } = leader.machine;
    store.expire(this.#jetstream.nowMs);
    const { seq = 0, last_by_subj, next_by_subj } = bodyOf<GetRequest>(request);
    const isBad =
      (seq > 0 && last_by_subj !== undefined) ||
      (seq === 0 && last_by_subj === undefined && next_by_subj === undefined);
    let message: StoredMessage | null = null;
    if (next_by_subj !== undefined) message = store.nextOf(next_by_subj, seq);
    else if (last_by_subj !== undefined) message = store.lastOf(last_by_subj);
    else message = store.at(seq);
    const error = isBad ? apiErrors.badRequest : apiErrors.noMessage;
    const body = isBad || message === null ? { error } : { message: encoded(message) };
    this.#jetstream.answer(request, leader.server, type, body);
  }

  #remove(request: ApiRequest, name: string): void {
    const type = 'stream_msg_delete_response';
    const found = this.#jetstream.leaderOf(request, name, type);
    if (found === null) return;
    const [stream, leader] = found;
    const answer = (body: object) => this.#jetstream.answer(request, leader.server, type, body);
    if (stream.config.deny_delete) {
      answer({ error: apiErrors.notDeleted('message delete not permitted') });
      return;
    }
    const { seq = 0 } = bodyOf<{ seq?: number }>(request);
    leader.propose({ op: 'remove', seq }, (result) => {
      const isRemoved = result.applied === 'removed' && result.count > 0;
      answer(isRemoved ? { success: true } : { error: apiErrors.notDeleted('no message found') });
    });
  }

  #removePeer(request: ApiRequest, name: string): void {
    const type = 'stream_remove_peer_response';
    const manager = this.#jetstream.managerFor(request.server);
    const stream = this.#jetstream.streams.get(name);
    if (manager === null || stream === undefined) {
      const error = manager === null ? apiErrors.unavailable : apiErrors.streamNotFound;
      this.#answer(request, type, { error });
      return;
    }
    const { peer } = bodyOf<{ peer?: string }>(request);
    const server = this.#jetstream.servers.find(({ place }) => place === peer);
    const isRemoved = server !== undefined && stream.removePeer(server);
    // With three servers no other server could replace it, but it is removed nevertheless.
    const error = isRemoved ? apiErrors.notRemapped : apiErrors.notAPeer;
    this.#jetstream.answer(request, manager, type, { error });
  }

  #stepDown(request: ApiRequest, name: string): void {
    const type = 'stream_leader_stepdown_response';
    const found = this.#jetstream.leaderOf(request, name, type);
    if (found === null) return;
    const [stream, leader] = found;
    stream.stepDown(leader);
    this.#jetstream.answer(request, leader.server, type, { success: true });
  }

  #names(request: ApiRequest): void {
    const streams = this.#fitting(request).map(({ name }) => name);
    const paged = { total: streams.length, offset: 0, limit: 1_024 };
    this.#answer(request, 'stream_names_response', { ...paged, streams });
  }

  #list(request: ApiRequest): void {
    const streams = this.#fitting(request).map((stream) => this.#describe(stream));
    const paged = { total: streams.length, offset: 0, limit: 256 };
    this.#answer(request, 'stream_list_response', { ...paged, streams });
  }

  /** By the server of the client. */
  #answer(request: ApiRequest, type: string, body: object): void {
    this.#jetstream.answer(request, request.server, type, body);
  }

  #fitting(request: ApiRequest): readonly Stream[] {
    const { subject } = bodyOf<{ subject?: string }>(request);
    const all = [...this.#jetstream.streams.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    if (subject === undefined) return all;
    return all.filter(({ config }) =>
      config.subjects.some((one) => matches(one, subject) || overlaps(one, subject)),
    );
  }

  #unplaced({ num_replicas }: StreamConfig): ApiError | null {
    const { length } = this.#jetstream.servers;
    if (num_replicas <= length) return null;
    return length === 1 ? apiErrors.oneServer : apiErrors.noPlacement;
  }

  #overlaps({ subjects }: StreamConfig): boolean {
    const all = [...this.#jetstream.streams.values()].flatMap(({ config }) => config.subjects);
    return subjects.some((one) => all.some((other) => overlaps(one, other)));
  }

  #describe(stream: Stream, leader: Replica | undefined = stream.replicas.all[0]) {
    const { rules, nowMs } = this.#jetstream;
    const store = leader?.machine.store;
    store?.expire(nowMs);
    const { num_subjects = 0, ...counts } = store?.state ?? {};
    const first = store?.at(store.first)?.timeMs;
    const state = {
      ...counts,
      first_ts: first === undefined ? NO_TIME : timeOf(first),
      last_ts: store === undefined || store.lastMs === 0 ? NO_TIME : timeOf(store.lastMs),
      ...(num_subjects > 0 ? { num_subjects } : {}),
      consumer_count: stream.consumers.size,
    };
    const config = rules.version === '2.9' ? stream.config : { ...LATER, ...stream.config };
    const base = { config, created: timeOf(stream.createdMs), state };
    return { ...base, ...this.#cluster(stream, leader) };
  }

  #cluster(stream: Stream, leader: Replica | undefined): object {
    const { rules } = this.#jetstream;
    if (leader === undefined) return {};
    if (!rules.isClustered) {
      // From 2.10 on a single server names itself.
      return rules.version === '2.9' ? {} : { cluster: { leader: leader.server.place } };
    }
    const replicas = stream.replicas.all
      .filter((one) => one !== leader)
      .map((one) => ({
        name: one.server.place,
        current: one.leader === leader && one.lastIndex === leader.lastIndex,
        active: 0,
        ...(one.server.isUp ? {} : { offline: true }),
      }));
    return { cluster: { name: 'model', leader: leader.server.place, replicas } };
  }
}

export function bodyOf<T extends object>({ packet }: ApiRequest): Partial<T> {
  if (packet.data.length === 0) return {};
  // trust: the project's clients send this shape; missing fields have defaults
  return JSON.parse(Buffer.from(packet.data).toString('utf8')) as Partial<T>;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function encoded({ subject, seq, headers, data, timeMs }: StoredMessage): object {
  // trust: the model makes all headers with the client's own
  const about = (headers as MsgHdrsImpl | undefined)?.encode();
  return {
    subject,
    seq,
    ...(about === undefined ? {} : { hdrs: Buffer.from(about).toString('base64') }),
    ...(data.length === 0 ? {} : { data: Buffer.from(data).toString('base64') }),
    time: timeOf(timeMs),
  };
}

/** Settings that 2.10 and later versions add to each stream. */
const LATER = { compression: 'none', consumer_limits: {}, allow_msg_ttl: false };

function sameConfig(one: StreamConfig, other: StreamConfig): boolean {
  const text = (config: StreamConfig) =>
    JSON.stringify(Object.entries({ ...LATER, ...config }).sort());
  return text(one) === text(other);
}
